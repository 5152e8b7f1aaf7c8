"""Coverage-guided fuzzing: targets, their seeds, what was found, and what runs them."""
