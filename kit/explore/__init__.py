"""Answers of the service as tables; nothing here talks to a service or draws a widget."""
