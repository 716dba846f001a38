"""Engines: one model each, found by entry point; they know nothing of accounts or databases."""
