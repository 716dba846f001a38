"""Engines that change a picture: background, repairs, looks and shape."""
