"""The log of a turn: append fenced by epoch, read and follow by cursor."""

from caesura.log.log import WINDOW, Log
from caesura.log.stream import Stream
from caesura.log.wakeups import Alone, Wakeups

__all__ = ["WINDOW", "Alone", "Log", "Stream", "Wakeups"]
