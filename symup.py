"""``python -m symup`` is ``symup``; the package is `uploader`."""

from uploader.cli.main import main

if __name__ == "__main__":
    main()
