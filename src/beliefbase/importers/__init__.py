"""Importers: transcripts and logs of others as events, with their own times; importing again adds nothing."""
