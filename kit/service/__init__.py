"""The service: HTTP and workers over one domain and one store."""
