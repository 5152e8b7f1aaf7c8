"""A worker process, as `Isolation` starts it; of no use to a person."""

from .worker import main

if __name__ == "__main__":
    main()
