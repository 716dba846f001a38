"""The command line: ``kit``."""

from kit.commands import main

if __name__ == "__main__":
    main()
