"""Each paper's figures and tables, declared, and what became of its claims."""
