"""Titles and voice-over scripts, and their spoken durations."""
