"""The service, without HTTP."""
