"""The stores against the shared suite and the oracle."""
