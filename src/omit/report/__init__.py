"""Results that present themselves, tables, pages and files; nothing about privacy."""
