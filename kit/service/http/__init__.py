"""The HTTP interface: parses requests, calls the domain and writes responses."""
