"""How many tokens models take, by the beginnings of their names."""

from __future__ import annotations

#: What may be sent. Where a provider counts the answer too, this is what it leaves for the rest.
_TOKENS = {
    "claude-3": 200_000,
    "claude-haiku-4": 200_000,
    "claude-opus-4": 200_000,
    "claude-sonnet-4": 200_000,
    "claude-opus-4-6": 1_000_000,
    "claude-opus-4-7": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-sonnet-4-6": 1_000_000,
    "claude-fable-5": 1_000_000,
    "claude-haiku-5": 1_000_000,
    "claude-mythos-5": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-sonnet-5": 1_000_000,
    "deepseek-flash": 1_000_000,
    "deepseek-r1": 128_000,
    "deepseek-v3": 128_000,
    "deepseek-v4": 1_000_000,
    "gemini-": 1_000_000,
    "gpt-3.5": 16_385,
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-5": 272_000,
    "gpt-5.4": 922_000,
    "gpt-5.4-mini": 272_000,
    "gpt-5.4-nano": 272_000,
    "gpt-5.5": 922_000,
    "gpt-5.6": 922_000,
    "gpt-6": 922_000,
    "gpt-oss": 131_072,
    "grok-4": 256_000,
    "grok-4.20": 1_000_000,
    "grok-4.3": 1_000_000,
    "grok-4.5": 500_000,
    "grok-4.6": 500_000,
    "grok-4.7": 500_000,
    "kimi-k2": 256_000,
    "kimi-k3": 1_000_000,
    "mistral-large": 128_000,
    "mistral-medium": 128_000,
    "mistral-small": 128_000,
    "moonshot-v1-128k": 131_072,
    "moonshot-v1-32k": 32_768,
    "moonshot-v1-8k": 8_192,
    "o1": 200_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "qwen3.8-flash": 900_000,
    "qwen3.8-max": 900_000,
}


def tokens(name: str) -> int | None:
    """The size of this model's window, if it is known. `name` may begin with a vendor, as `openai/gpt-6`."""
    bare = name.rpartition("/")[2].lower().replace("claude-opus-4.", "claude-opus-4-")
    bare = bare.replace("claude-sonnet-4.", "claude-sonnet-4-")
    known = [beginning for beginning in _TOKENS if bare.startswith(beginning)]
    return _TOKENS[max(known, key=len)] if known else None
