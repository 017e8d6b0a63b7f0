"""Protected statistics: what is computed, and which noise gives it a guarantee."""
