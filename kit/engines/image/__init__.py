"""Built-in engines that make pictures."""
