"""Models that a file adds to the catalog: local pipelines, image and video endpoints, services.

Errors in the file are reported and left out; the other models are offered.
"""
