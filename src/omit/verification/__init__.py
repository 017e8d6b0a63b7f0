"""Checks of the theorems by independent computation, as a feature for users."""
