"""Sweeps: one request for each combination of values, as a plan, a table and a contact sheet."""
