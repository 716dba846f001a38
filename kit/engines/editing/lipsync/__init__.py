"""Talking portraits: a mouth that moves with a voice, warped from the picture's own pixels."""
