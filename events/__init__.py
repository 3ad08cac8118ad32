"""Events: envelope, catalogue, codec, clock, writers and the logs that keep them."""
