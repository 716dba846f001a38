"""Living scenes: a painted still in which the camera, the air, the clouds and the light move."""
