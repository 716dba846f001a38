"""Models of the diffusers library: any pipeline in a local folder or the local hub cache.

Only `pipelines` and `drawing` import torch; the catalog is read from the library's source text.
"""
