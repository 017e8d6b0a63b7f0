"""Grids of cells that are computed anywhere, stored as they finish, and never twice."""
