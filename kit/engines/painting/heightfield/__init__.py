"""Heightfields: land that is seen from above."""
