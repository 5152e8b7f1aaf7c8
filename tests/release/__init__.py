"""What a release is tested with: its archives, and environments that hold no more than an extra."""
