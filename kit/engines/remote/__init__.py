"""Models that another machine renders: image and video endpoints, and services of this same API.

`http` is the one module that knows httpx, and the one door through which a key leaves.
"""
