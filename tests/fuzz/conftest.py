"""Where atheris is not installed, as pyproject.toml says, there is nothing to collect here."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("atheris") else ["test_fuzz.py"]
