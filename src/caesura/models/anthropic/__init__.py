"""Messages: the protocol of Anthropic."""

from caesura.models.anthropic.speech import VERSIONS, Messages

__all__ = ["VERSIONS", "Messages"]
