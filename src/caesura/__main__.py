"""`python -m caesura` is the command line."""

from caesura.cli import main

if __name__ == "__main__":
    main()
