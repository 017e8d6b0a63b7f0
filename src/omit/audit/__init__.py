"""Our own bounds against linear programs over all mechanisms."""
