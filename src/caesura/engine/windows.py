"""The context windows of models, as this process knows them: configured, known by name, or learned from a
provider that refused a prompt."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

#: How many conversations' corrections are remembered for one model.
_CONVERSATIONS = 2_000
#: The least and the most tokens that the provider counts for one that is estimated. A text of much white
#: space may have fewer, and is taken to have so many. None has more.
LEAST, MOST = 0.6, 4.0
#: A refusal that does not name the window teaches no smaller one than this.
_SMALLEST = 2_000
#: What is left for the answer: a part of the window, and at most this many tokens.
_PART, _ROOM = 4, 8_192
#: The options in which an operator bounds the answer.
_BOUNDS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class Window:
    def __init__(self, tokens: int | None = None, answer: int | None = None) -> None:
        """`tokens` is its size, if that is known: nothing makes it larger. `answer` is how long an answer may
        become, if that is known."""
        self.tokens = self._most = tokens
        self._answer = answer
        #: For each conversation: how many tokens the provider counts for one that is estimated.
        self._ratios: OrderedDict[str, float] = OrderedDict()
        #: The tokens of the longest prompt that the provider has answered, rather too few than too many.
        self._accepted = 0
        #: What refusals have taught that contradict this: each counts for its conversation alone.
        self._own: OrderedDict[str, int] = OrderedDict()

    @property
    def limit(self) -> int | None:
        """How many tokens a prompt may have."""
        return self._limit(self.tokens)

    def limit_of(self, conversation_id: str) -> int | None:
        """How many tokens a prompt of this conversation may have."""
        return self._limit(self._size(conversation_id))

    def rules_out(self, conversation_id: str, estimated: int) -> bool:
        """Whether no prompt of this length can fit. A size that was learned may be wrong: then the provider
        decides, and its answer corrects the size."""
        size = self._size(conversation_id)
        return size is not None and size == self._most and estimated * LEAST > size

    def _size(self, conversation_id: str) -> int | None:
        own = self._own.get(conversation_id)
        return min((size for size in (own, self.tokens) if size is not None), default=None)

    def _limit(self, tokens: int | None) -> int | None:
        if tokens is None:
            return None
        room = min(tokens // _PART, _ROOM) if self._answer is None else self._answer
        return tokens - min(room, tokens // 2)

    def ratio(self, conversation_id: str) -> float:
        return self._ratios.get(conversation_id, 1.0)

    def count(self, conversation_id: str, estimated: int, usage: Mapping[str, int] | None) -> None:
        """The provider has counted the tokens of a prompt. A count that no text of this length can have is
        wrong, and teaches nothing."""
        counted = (usage or {}).get("input_tokens", 0)
        if not estimated or counted > estimated * MOST:
            return
        self._accepted = max(self._accepted, int(estimated * LEAST), min(max(counted, 0), estimated))
        if counted > 0:
            self._correct(conversation_id, counted / estimated)
        taken = max(counted, int(estimated * LEAST))
        if self.tokens is not None and taken > self.tokens:
            # A refusal had made it too small.
            self.tokens = taken if self._most is None else min(taken, self._most)
        if self._own.get(conversation_id, taken) < taken:
            del self._own[conversation_id]

    def refuse(self, conversation_id: str, estimated: int, named: int | None) -> None:
        """The provider has refused a prompt as too long. `named` is the size of the window that it named."""
        sent = int(estimated * self.ratio(conversation_id))
        if named is None and sent >= _SMALLEST:
            self._learn(conversation_id, max(int(sent * 0.9), _SMALLEST), sent)
        elif named is not None:
            self._learn(conversation_id, named, sent)
        limit = self.limit_of(conversation_id)
        if limit is not None and sent <= limit and estimated:
            self._correct(conversation_id, limit * 1.2 / estimated)

    def fill(self, conversation_id: str, estimated: int, usage: Mapping[str, int] | None) -> None:
        """An answer was cut off at the end of the window: the prompt and the answer together are its size."""
        counts = usage or {}
        believed = estimated * LEAST <= counts.get("input_tokens", 0) <= estimated * MOST
        sent = int(estimated * self.ratio(conversation_id))
        size = max(counts.get("total_tokens", 0) if believed else sent, _SMALLEST)
        self._learn(conversation_id, size, sent)

    def _learn(self, conversation_id: str, size: int, sent: int) -> None:
        """A prompt that `sent` tokens had is said to be too long for a window of this size."""
        if size < self._accepted and sent <= self._accepted:
            self._own[conversation_id] = min(size, self._own.get(conversation_id, size))
            self._own.move_to_end(conversation_id)
            while len(self._own) > _CONVERSATIONS:
                self._own.popitem(last=False)
            return
        size = max(size, self._accepted)
        self.tokens = size if self.tokens is None else min(self.tokens, size)

    def _correct(self, conversation_id: str, ratio: float) -> None:
        self._ratios[conversation_id] = min(max(ratio, LEAST), MOST)
        self._ratios.move_to_end(conversation_id)
        while len(self._ratios) > _CONVERSATIONS:
            self._ratios.popitem(last=False)


class Windows:
    """The windows of all models that agents name, each once: what is learned holds for all agents."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Window] = {}

    def of(self, name: str, base_url: str | None, tokens: int | None, options: Mapping[str, Any]) -> Window:
        answer = next((found for bound in _BOUNDS if type(found := options.get(bound)) is int), None)
        key = name, base_url, tokens, answer
        return self._known.setdefault(key, Window(tokens, max(answer, 0) if answer is not None else None))
