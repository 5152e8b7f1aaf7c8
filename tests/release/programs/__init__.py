"""A program for each extra, which uses it as its page says, and one for the core (see `run.py`)."""
