"""Animate a picture: a still gets depth, a camera that moves, weather and sound."""
