"""Land and sea in depth: terrain rendered as voxel space, under a sky that lights it."""
