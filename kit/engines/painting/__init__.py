"""Procedural painting of scenes in depth: a prompt becomes a brief for a family's painter."""
