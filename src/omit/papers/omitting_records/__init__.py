"""The paper on omitting records: its figures as declarations, and what became of its claims."""
