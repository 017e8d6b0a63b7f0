"""Parallel composition for statistical privacy: Breutigam and Reischuk."""
