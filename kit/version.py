"""The version of the kit, in the one place that the build reads too."""

__version__ = "1.0.0"
