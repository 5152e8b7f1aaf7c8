"""The catalog of hostile inputs and accidents, and what runs it."""
