"""A short film for the README: a server is killed with kill -9 in the middle of an answer, and goes on."""
