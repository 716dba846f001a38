"""Shared tools of built-in engines: color, noise, sound, still pictures and video clips.

All modules here import NumPy, OpenCV or a codec, so import them inside `render` only.
"""
