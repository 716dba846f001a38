"""Models of the diffusers library: any pipeline in a local folder or the local hub cache.

Only `pipelines` and `drawing` import torch; a catalog is listed from the library's source text.
"""
