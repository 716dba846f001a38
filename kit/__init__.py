"""Explore generative image and video models from a notebook."""
