"""The writers of titles and scripts: built in, or a language model behind a chat endpoint.

What a model answers is never trusted: it is parsed leniently, checked, measured, and asked for once
more where it does not fit. `client` is the one module that knows httpx and sends the key.
"""
