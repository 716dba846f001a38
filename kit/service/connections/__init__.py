"""Connections: how many there may be, and how much and how slowly each may send.

The server below has no such limits. They are kept here, before any key is checked.
"""
