"""What only one of the backends does, and how a database comes to this program's schema."""
