"""Chat models: what the engine asks of one, and clients for the providers that offer them."""
