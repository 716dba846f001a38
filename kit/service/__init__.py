"""The service: an HTTP API and workers on one domain layer and one store."""
