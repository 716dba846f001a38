"""Prompts: words are read once, here, as what painters, films and editors are to make."""
