"""Projections: what is believed, and how beliefs lived, as DuckDB tables."""
