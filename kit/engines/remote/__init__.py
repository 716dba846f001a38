"""Models on other machines: image and video endpoints, and services with this same API.

Only the module `http` uses httpx and sends keys.
"""
