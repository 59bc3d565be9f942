"""What an operator can do about a call of a model that failed."""

from __future__ import annotations

from caesura.models.failures import ModelError


def remedy_for_list(error: ModelError) -> str:
    """What to do if there is no list of models."""
    if error.kind in ("missing", "broken"):
        return "this address has no list of models: correct the base URL"
    return remedy(error)


def remedy(error: ModelError, alone: bool = True) -> str:
    """What to do about a failure. `alone`: an agent has no other model."""
    said = str(error)
    match error.kind:
        case "key":
            return "correct the key, or look at the account behind it"
        case "missing":
            return "correct the model's name (`caesura models` lists what is offered) or the base URL"
        case "request":
            return "correct model.options and model.temperature"
        case "context":
            return "set model.context_tokens"
        case "busy" | "provider":
            return "try again later, or name a fallback" if alone else "try again later"
        case "silent" | "broken":
            return "look at the provider, or raise model.idle_timeout"
        case "connection" if "certificate" in said or "secure" in said or "authorities" in said:
            return "name the authority's file in SSL_CERT_FILE, or correct the base URL (http or https)"
        case "connection" if "prox" in said:
            return "correct HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY"
        case "connection":
            return "start it, or correct the base URL"
