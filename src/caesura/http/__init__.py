"""The HTTP surface: routes, streams, authentication, limits."""
