"""Land and sea in depth: terrain seen by voxel space, under a sky that lights it."""
