"""Everything displayed in a notebook; nothing here sends requests to a service."""
