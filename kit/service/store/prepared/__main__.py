"""Writes the statements down anew: ``python -m kit.service.store.prepared``."""

from kit.service.store.prepared.writing import write

if __name__ == "__main__":
    write()
