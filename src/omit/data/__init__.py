"""The data as mechanisms need it: declared bounds plus distinct values with counts."""
