"""Flat layered landscapes: a brief is drawn as planes."""
