"""Pictures that are edited: background, repairs, looks and shape."""
