"""Messages: the protocol of Anthropic."""

from caesura.models.anthropic.speech import VERSIONS, Messages, most_tokens

__all__ = ["VERSIONS", "Messages", "most_tokens"]
