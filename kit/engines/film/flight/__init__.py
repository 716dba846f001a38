"""Flights over generated land."""
