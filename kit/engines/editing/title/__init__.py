"""Titles: a headline set on a picture where it is quiet, with enough contrast to be read."""
