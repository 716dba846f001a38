"""Fly-through: a camera flies over land of heights, drawn in three dimensions."""
