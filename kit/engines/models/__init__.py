"""The built-in models: a definition, and a `render` that calls painters, films or editors."""
