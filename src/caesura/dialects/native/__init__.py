"""The native API, `/api/v2`: everything there is, in our own words."""
