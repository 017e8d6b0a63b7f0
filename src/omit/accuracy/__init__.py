"""What an omission costs: expected errors, comparisons, searches, grids."""
