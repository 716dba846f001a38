"""Models that one file adds to the catalog: local pipelines, image and video endpoints, services.

Whoever runs the service writes the file; what is wrong in it is reported and left out, so that a
typo never keeps the other models from being served.
"""
