"""Built-in engines that make video clips."""
