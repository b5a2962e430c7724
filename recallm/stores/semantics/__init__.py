"""What a write means, once for all stores: see `rows` for the contract with a store."""
