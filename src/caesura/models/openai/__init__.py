"""Chat completions: the protocol of OpenAI, which most providers and local servers speak too."""

from caesura.models.openai.speech import ChatCompletions

__all__ = ["ChatCompletions"]
