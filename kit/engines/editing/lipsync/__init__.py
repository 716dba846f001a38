"""Talking portraits: a mouth that moves with a voice, drawn from the picture's own pixels."""
