"""Connections: how many there may be, and how much and how slowly each may send.

The server below has no such bounds for its parser. They are kept here, before any key is looked at.
"""
