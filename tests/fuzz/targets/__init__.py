"""One module a target: `seeds()` gives inputs to start from, `check(data)` fails on a fault."""
