"""Ways to leave records out, and what guarantee remains."""
