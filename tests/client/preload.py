"""What a server needs, imported once for all that are forked."""

import caesura.app  # noqa: F401
