"""Rows: the database, its schema and its migrations."""
