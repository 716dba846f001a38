"""Holes in pictures are filled with what lies around them."""
