"""The default embedding in eight-bit integers."""
