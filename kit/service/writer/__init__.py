"""The writer that asks a language model, behind any OpenAI-compatible chat endpoint.

What a model says is never believed: it is read with patience, checked, measured, and asked for once
more where it does not fit; `http` is the one module that knows httpx, and the one door through
which the key leaves.
"""
