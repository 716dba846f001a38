"""Titles and voice-over scripts, and how long they take to say."""
