"""``python -m uploader`` is ``symup``."""

from uploader.cli.main import main

if __name__ == "__main__":
    main()
