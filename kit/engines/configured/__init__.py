"""Models that one file adds to the catalog: local pipelines, image and video endpoints, services.

What is wrong in the file is reported and left out; the other models are served.
"""
