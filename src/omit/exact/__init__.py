"""Engines: arrays and laws in, numbers with a proven precision out."""
