"""The contract of a context provider: what it is asked, what it says of itself, what it gives.

A provider is any object with a method `contribute(request)` that returns a mapping of
variables to values, or is a coroutine function that does. What else it may have:

    name        what messages call it; its class's name by default
    priority    providers run in ascending order, later ones override earlier; 0 by default
    provides    the variables that it gives, each with its scope. A provider without it is
                asked at every turn; one with it only when a template reads one of them
    needs       variables of lower priorities that it reads from `request.values`
    timeout     seconds after which it is given up
    stamp       a method `stamp(request)`: while what it returns is equal, the values of the
                scopes static, session and day that were given last still hold
    acontribute, astamp
                coroutine functions, which an asynchronous render calls instead
    instant     whether it neither waits nor computes much, so that it needs no thread
"""

from __future__ import annotations

import datetime
import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from ..agents import AgentDefinition
from ..errors import ProviderError
from ..prompt import Scope

__all__ = [
    "Contribution",
    "Provider",
    "ProviderRequest",
    "Registered",
    "provider",
    "register",
]

Contribution = Mapping[str, Any]
"""What a provider gives: variables in snake_case, plain data, null for what is absent."""


class ProviderRequest(NamedTuple):
    """What a provider is asked for.

    Attributes:
        definition: the agent; None when only a template is rendered.
        session: the session, as the caller passed it.
        auth: who is served, as the caller passed it.
        agent_id: the agent's id, else its name.
        session_id: the session's id.
        user_id: the user's id, from the session or else from `auth`.
        now: the time of the render, in UTC.
        zone: the user's time zone; None for the machine's.
        names: the variables that are read of those that this provider gives; None when it
            does not say what it gives.
        values: what providers of lower priorities gave, as they gave it: whether it is plain
            data is seen when the template is rendered.
    """

    definition: AgentDefinition | None
    session: Any
    auth: Any
    agent_id: str | None
    session_id: str | None
    user_id: str | None
    now: datetime.datetime
    zone: datetime.tzinfo | None
    names: frozenset[str] | None = None
    values: Mapping[str, Any] = {}

    @property
    def local_time(self) -> datetime.datetime:
        """The time of the render in the user's zone."""
        return self.now.astimezone(self.zone)


@runtime_checkable
class Provider(Protocol):
    """What every provider has; the module's text lists what it may have besides."""

    def contribute(self, request: ProviderRequest) -> Contribution | Awaitable[Contribution]:
        """Give the variables for one render."""


class Registered(NamedTuple):
    """A provider with what it says of itself, checked once."""

    name: str
    priority: int
    provides: Mapping[str, Scope] | None
    needs: frozenset[str]
    timeout: float | None
    instant: bool
    is_async: bool
    is_stamp_async: bool
    contribute: Callable[[ProviderRequest], Any]
    acontribute: Callable[[ProviderRequest], Any] | None
    stamp: Callable[[ProviderRequest], Any] | None
    astamp: Callable[[ProviderRequest], Any] | None


class _FunctionProvider:
    """A plain function as a provider."""

    def __init__(self, function: Callable[[ProviderRequest], Any], about: dict[str, Any]) -> None:
        self.contribute = function
        self.name = getattr(function, "__name__", "function")
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        for key, value in about.items():
            setattr(self, key, value)

    def __call__(self, request: ProviderRequest) -> Any:
        return self.contribute(request)

    def __repr__(self) -> str:
        return f"<provider {self.name}>"


_Function = Callable[[ProviderRequest], Contribution | Awaitable[Contribution]]
"""A provider as a function, plain or a coroutine function."""


def provider(
    *names: str,
    priority: int = 0,
    scope: Scope | Mapping[str, Scope] = Scope.TURN,
    needs: Iterable[str] = (),
    timeout: float | None = None,
    name: str | None = None,
) -> Callable[[_Function], Provider]:
    """Make a provider of a function: `f(request) -> mapping`, plain or a coroutine function.

    Args:
        names: the variables that it gives; none for a provider that is always asked.
        priority: later ones override earlier ones.
        scope: how long the values hold, for all of them or by variable.
        needs: variables of lower priorities that it reads from `request.values`.
        timeout: seconds after which it is given up.
        name: what messages call it; the function's name by default.

    Raises:
        ProviderError: a name, a scope or the priority is none (P305).

    Examples:
        >>> import cuecard
        >>> @cuecard.provider("weather", scope=cuecard.Scope.DAY)
        ... def forecast(request):
        ...     return {"weather": "snow"}
        >>> cuecard.PromptRenderer([forecast]).render("Expect {{ weather }}.")
        'Expect snow.'
    """
    _check_names(names, scope)
    if isinstance(scope, Mapping):
        provides = {each: scope.get(each, Scope.TURN) for each in names}
    else:
        provides = dict.fromkeys(names, scope)
    about: dict[str, Any] = {
        "priority": priority,
        "provides": provides if names else None,
        "needs": frozenset(needs),
        "timeout": timeout,
    }
    if name is not None:
        about["name"] = name

    def decorate(function: _Function) -> Provider:
        made = _FunctionProvider(function, about)
        register(made)
        return made

    return decorate


def _check_names(names: tuple[Any, ...], scope: Any) -> None:
    for each in names:
        if not isinstance(each, str):
            called = getattr(each, "__name__", type(each).__name__)
            hint = 'name the variables: `@cuecard.provider("greeting")`'
            raise _invalid(called, "is decorated without a name", hint)
    strangers = sorted(set(scope) - set(names)) if isinstance(scope, Mapping) else ()
    if strangers:
        called = ", ".join(map(str, names))
        problem = f"has a scope for `{strangers[0]}`, which it does not give"
        raise _invalid(called, problem, "name it, or leave its scope out")


def register(value: Any) -> Registered:
    """What a provider says of itself, checked.

    Raises:
        ProviderError: it is no provider, or says what cannot be (P305).
    """
    if isinstance(value, type):
        raise _invalid(value.__name__, "is a class", "pass an instance of it")
    name = getattr(value, "name", None) or type(value).__name__
    if not isinstance(name, str):
        raise _invalid(type(value).__name__, "has a name that is no text", "give it a text")
    contribute = getattr(value, "contribute", None)
    if not callable(contribute):
        hint = "write `contribute(request)`, or decorate a function with `@cuecard.provider`"
        raise _invalid(name, "has no method `contribute`", hint)
    is_async = inspect.iscoroutinefunction(contribute)
    timeout = _timeout(value, name)
    return Registered(
        name,
        _priority(value, name),
        _provides(value, name),
        _needs(value, name),
        timeout,
        # What is awaited, or watched by a clock, is not called in place.
        bool(getattr(value, "instant", False)) and not is_async and timeout is None,
        is_async,
        inspect.iscoroutinefunction(getattr(value, "stamp", None)),
        contribute,
        _method(value, name, "acontribute"),
        _method(value, name, "stamp"),
        _method(value, name, "astamp"),
    )


def _method(value: Any, name: str, method: str) -> Callable[[ProviderRequest], Any] | None:
    found = getattr(value, method, None)
    if found is not None and not callable(found):
        raise _invalid(name, f"has `{method}`, which is no method", "write it as a method")
    return cast("Callable[[ProviderRequest], Any] | None", found)


def _priority(value: Any, name: str) -> int:
    priority = getattr(value, "priority", 0)
    if not isinstance(priority, int) or isinstance(priority, bool):
        raise _invalid(name, "has a priority that is no whole number", "use 0, 10, 100, ...")
    return priority


def _provides(value: Any, name: str) -> dict[str, Scope] | None:
    provides = getattr(value, "provides", None)
    if provides is None:
        return None
    if isinstance(provides, str) or not isinstance(provides, (Mapping, Iterable)):
        raise _invalid(name, "says what it provides in no mapping", "map names to scopes")
    checked: dict[str, Scope] = {}
    for key in provides:
        scope = provides[key] if isinstance(provides, Mapping) else Scope.TURN
        if not isinstance(key, str) or not key.isidentifier() or key.startswith("_"):
            raise _invalid(name, "provides a name that no template can read", "use snake_case")
        if not isinstance(scope, Scope):
            raise _invalid(name, f"gives `{key}` no `Scope`", "such as `cuecard.Scope.TURN`")
        checked[key] = scope
    return checked


def _needs(value: Any, name: str) -> frozenset[str]:
    needs = getattr(value, "needs", ())
    listed = tuple(needs) if isinstance(needs, Iterable) and not isinstance(needs, str) else (None,)
    if not all(isinstance(each, str) for each in listed):
        raise _invalid(name, "needs something that is no name", "list the names of variables")
    return frozenset(listed)


def _timeout(value: Any, name: str) -> float | None:
    timeout = getattr(value, "timeout", None)
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise _invalid(name, "has a timeout that is no number above 0", "give it in seconds")
    return None if timeout == math.inf else float(timeout)


def _invalid(name: str, problem: str, hint: str) -> ProviderError:
    return ProviderError(f"provider `{name}` {problem}", code="P305", hint=hint)
