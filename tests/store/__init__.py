"""What only one of the backends does, and how a database is migrated to this program's schema."""
