"""Sweeps: many requests, priced as a whole, made within the limits of the service, and compared."""
