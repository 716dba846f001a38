"""Prompt parsing, shared by painters, films and editors."""
