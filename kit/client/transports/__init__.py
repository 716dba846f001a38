"""What sends requests: awaited on the private loop, and the same without waiting for a loop."""
