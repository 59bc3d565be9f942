"""Imports the Python objects that an agent file names as `module:attribute`: a chat model class, a graph or a
tool."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import inspect
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from caesura.agents import extra_versions
from caesura.agents.faults import did_you_mean
from caesura.core import installs

logger = logging.getLogger(__name__)

WHERE = "name a module next to this file, or a package that is installed or in a folder of PYTHONPATH"
#: The remedy for code that raises, if no line of it is known.
FAILED = "correct its code"
CORRECT_LINE = "correct this line"
_ABSENT = "install that module, or name its folder with PYTHONPATH"
_ONE_FILE = (
    "code next to an agent is one file: put both into it, or make what they share a package that is installed"
    " or in a folder that PYTHONPATH names"
)
_GENERATOR = "write: async def stream(self, messages, tools=()), and yield the pieces of the reply"
#: Packages that an extra installs.
_EXTRAS = {"langchain": "langchain", "langchain_core": "langchain", "langgraph": "langgraph"}


#: A module of the agents folder has this before its name, so that no package has the same. Stored values of a
#: graph's state name their modules so.
_PREFIX = "caesura_agents_"
#: What looks like an environment variable, and like one that holds a key or an address.
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_SECRET = re.compile(r"_(?:KEY|TOKEN|SECRET|PASSWORD|URL|ENDPOINT)$")


class ImportFault(Exception):
    """The named object cannot be imported, or is not of the required kind. `line` is the line of the agents
    folder's own file where that was found, and 0 if it was not found in such a line."""

    def __init__(self, message: str, remedy: str = WHERE, line: int = 0) -> None:
        super().__init__(plain(message))
        self.remedy, self.line = remedy, line


def plain(text: str) -> str:
    """The text, with modules of the agents folder as people call them."""
    return text.replace(_PREFIX, "")


def module_file(target: str, folder: Path | None) -> Path | None:
    """The file in the agents folder that contains `target`, if there is one."""
    if folder is None:
        return None
    path = folder.joinpath(*target.partition(":")[0].split(".")).with_suffix(".py")
    try:
        if not path.is_file():
            return None
    except OSError:
        return None  # no file can have such a name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ImportFault(f"{path.name} is a link that leaves the agents folder")
    return path


def chat_model_class(target: str, folder: Path | None) -> type[Any]:
    """A class of our own protocol, which is known by its method `stream`, or one of LangChain."""
    found = load(target, folder)
    if not isinstance(found, type):
        raise ImportFault(f"{target} is not a class")
    if not (is_langchain(found) or callable(getattr(found, "stream", None))):
        raise ImportFault(
            f"{target} is no chat model: it has no method stream, and is not a subclass of BaseChatModel"
        )
    if not is_langchain(found):
        _check_stream(target, inspect.getattr_static(found, "stream"))
    return found


def _check_stream(target: str, stream: Any) -> None:
    """Whether this can be the method of a model. A plain function may return a generator: only a call
    tells."""
    if not inspect.isfunction(stream):
        return
    line = stream.__code__.co_firstlineno
    if inspect.iscoroutinefunction(stream) or inspect.isgeneratorfunction(stream):
        raise ImportFault(f"stream of {target} must be an async generator", _GENERATOR, line)
    try:
        inspect.signature(stream).bind(None, [], ())
    except TypeError:
        raise ImportFault(f"stream of {target} must take messages and tools", _GENERATOR, line) from None


def is_langchain(model_class: type[Any]) -> bool:
    """Whether this is a chat model of LangChain, without loading LangChain."""
    return any(
        base.__name__ == "BaseChatModel" and base.__module__.startswith("langchain_core.")
        for base in model_class.__mro__
    )


def has_langchain() -> bool:
    return importlib.util.find_spec("langchain") is not None


def load(target: str, folder: Path | None) -> Any:
    name, _, attribute = target.partition(":")
    path = module_file(target, folder)
    if path is None and name.endswith(".py"):
        plain = f"{name.removesuffix('.py')}:{attribute}"
        raise ImportFault(f"{target} names a file, not a module", f"leave out .py: {plain}")
    module = _from_file(name, path) if path else _installed(name)
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise ImportFault(f"{name} has no attribute {attribute}{_close_to(attribute, module)}") from None
    except BaseException as error:  # a module may have a `__getattr__` of its own
        if is_interrupted(error):
            raise
        raise ImportFault(f"{target} failed: {type(error).__name__}: {said(error)}", FAILED) from error


def own_modules(target: str) -> list[ModuleType]:
    """The operator's modules that are loaded by now: those of the agents folder, of the package that `target`
    names, and of the folders of PYTHONPATH."""
    folders = [Path(item) for item in os.environ.get("PYTHONPATH", "").split(os.pathsep) if item]
    own = {entry.stem for folder in folders if folder.is_dir() for entry in folder.iterdir()}
    own.add(target.partition(":")[0].partition(".")[0])
    loaded = list(sys.modules.items())
    return [item for name, item in loaded if name.startswith(_PREFIX) or name.partition(".")[0] in own]


def _close_to(name: str, module: ModuleType) -> str:
    known = [item for item in vars(module) if not item.startswith("_")]
    hint = did_you_mean(name, known)
    return f": {hint}" if hint else ""


def _from_file(name: str, path: Path) -> ModuleType:
    """The module at `path`. As any other it is loaded once in a process, but for one that failed to load."""
    unique = _PREFIX + name.replace(".", "__")
    try:
        source = path.read_bytes()
    except OSError as error:
        raise ImportFault(f"{path.name} cannot be read: {error.strerror}") from error
    while True:
        known = sys.modules.get(unique)
        loader = known.__loader__ if known is not None and known.__file__ == str(path) else None
        if known is None or not isinstance(loader, _Source) or loader.is_outdated(source):
            made = _Source(path, source)
            with made.loading:
                if sys.modules.get(unique) is known:
                    sys.modules.pop(unique, None)
                if sys.modules.setdefault(unique, module := made.module(unique)) is module:
                    return made.load(module)
            continue  # another thread was first
        with loader.loading:  # another thread may still run its code
            if sys.modules.get(unique) is known:
                loader.compare(source)
                return known


class _Source(importlib.abc.InspectLoader):
    """Runs the given bytes: Python's own loader may use an older file from its cache. The lock `loading` is
    held while they run."""

    def __init__(self, path: Path, source: bytes) -> None:
        self._path, self._source, self._newest = path, source, source
        self._loaded, self.loading = False, threading.RLock()

    def module(self, name: str) -> ModuleType:
        made = importlib.util.module_from_spec(ModuleSpec(name, self, origin=str(self._path)))
        made.__file__ = str(self._path)
        return made

    def load(self, module: ModuleType) -> ModuleType:
        with self.loading:
            try:
                run(lambda: self.exec_module(module), self._path.name, self._path)
            except ImportFault:
                if sys.modules.get(module.__name__) is module:  # its own code may have removed it
                    del sys.modules[module.__name__]
                raise
            self._loaded = True
        return module

    def is_outdated(self, source: bytes) -> bool:
        """Whether the file has changed while its code runs, which may never end."""
        return not self._loaded and source != self._source

    def compare(self, source: bytes) -> None:
        if source != self._newest:
            logger.warning("%s has changed: restart the server to use it", self._path.name)
        self._newest = source

    def get_source(self, fullname: str) -> str:
        return importlib.util.decode_source(self._source)

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._source, str(self._path))


def _installed(name: str) -> ModuleType:
    found: ModuleType = run(lambda: importlib.import_module(name), name)
    return found


def run(code: Callable[[], Any], what: str, path: Path | None = None) -> Any:
    """Run an operator's code: whatever it raises is a fault of its file, not of the server."""
    try:
        return code()
    except BaseException as error:
        if is_interrupted(error):
            raise
        line = _line(error, str(path)) if path is not None else 0
        if (extra := _missing_extra(error)) is not None:
            raise ImportFault(*needs(what, extra), line) from error
        if isinstance(error, ImportError):
            check_version(_EXTRAS.get(_package(error)), line)
        if path is not None and _is_relative(error):
            message = f"{what} has a relative import, of a file next to it, which is not possible"
            raise ImportFault(message, _ONE_FILE, line) from error
        if path is not None and (neighbour := _neighbour(error, path)) is not None:
            message = f"{what} imports {neighbour}, a file next to it, which is not possible"
            raise ImportFault(message, _ONE_FILE, line) from error
        said_so = f"{what} failed: {type(error).__name__}: {_said(error)}"
        raise ImportFault(said_so, _remedy(error, what, line), line) from error


def _remedy(error: BaseException, what: str, line: int) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and not line:
        return WHERE if f"{what}.".startswith(f"{error.name}.") else _ABSENT
    correct = CORRECT_LINE if line else FAILED
    return f"set {variable}, or {correct}" if (variable := _variable(error)) else correct


def _variable(error: BaseException) -> str | None:
    """The environment variable that code seems to miss."""
    text = _said(error)
    named = _VARIABLE.findall(text)
    if isinstance(error, KeyError) or "environment variable" in text:
        return next(iter(named), None)
    return next((name for name in named if _SECRET.search(name)), None)


def _is_relative(error: BaseException) -> bool:
    return isinstance(error, ImportError) and "attempted relative import" in str(error)


def _neighbour(error: BaseException, path: Path) -> str | None:
    """The file of the agents folder that the code tried to import."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    file = f"{(name or '').partition('.')[0]}.py"
    return file if name and path.with_name(file).is_file() else None


def _missing_extra(error: BaseException) -> str | None:
    """The extra that would install the package that was not found."""
    return _EXTRAS.get(_package(error)) if isinstance(error, ModuleNotFoundError) else None


def _package(error: ImportError) -> str:
    return (error.name or "").partition(".")[0]


def _said(error: BaseException) -> str:
    """What an error says. Of a syntax error without its place, which is told apart."""
    return str(error.msg) if isinstance(error, SyntaxError) else said(error)


def said(error: BaseException) -> str:
    """What an error of an operator's code says. Saying it is code of theirs too."""
    try:
        return str(error)
    except BaseException as other:
        if is_interrupted(other):
            raise
        return "an error that cannot be told"


def is_interrupted(error: BaseException) -> bool:
    """Whether a person has pressed Ctrl-C. Only the main thread hears of that: elsewhere the operator's code
    has raised it."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def _line(error: BaseException, file: str) -> int:
    """The line of this file where the error came up, or the last that led there."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 0
    frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return (frames[-1] if frames else 0) or 0


def needs(what: str, extra: str) -> tuple[str, str]:
    return f"{what} needs the extra {extra}", f"install it: {installs.add_extra(extra)}"


def check_version(extra: str | None, line: int = 0) -> None:
    """Raise an `ImportFault` if a package of this extra is too old or too new."""
    if extra is not None and (misfit := extra_versions.misfit(extra)):
        raise ImportFault(misfit, f"install it: {installs.add_extra(extra)}", line)
