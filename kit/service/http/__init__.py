"""The HTTP door: reads, calls the domain, writes."""
