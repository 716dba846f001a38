"""Picture editing: background, repairs, looks and aspect."""
