"""Flat layered landscapes: a prompt is read as a scene, a scene is drawn as planes.

`scene`, `lexicon`, `palettes` and `settings` are plain data and load nothing heavy; the rest draws.
"""
