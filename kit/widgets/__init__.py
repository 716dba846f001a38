"""How things look in a notebook; nothing here talks to a service."""
