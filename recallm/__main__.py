"""``python -m recallm``: the command line, where the command itself is not on the path."""

from recallm.cli import main

if __name__ == "__main__":
    main()
