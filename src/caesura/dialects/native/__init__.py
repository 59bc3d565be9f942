"""The native API, `/api/v2`: all features of the server."""
