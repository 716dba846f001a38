"""Scenes painted in depth: a prompt is read as a brief, and a family of scenes paints it."""
