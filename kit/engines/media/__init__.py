"""What built-in engines draw and encode with: color, noise, still pictures and video clips.

Everything here imports numpy, OpenCV or a codec, so it is imported inside `render` only.
"""
