"""Editing of pictures and videos: repair, restyle, reframe, title, join, lip sync."""
