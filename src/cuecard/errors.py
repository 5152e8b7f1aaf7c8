"""The exceptions of cuecard.

    PromptError
    ├── TemplateError                 the template, while it is read or rendered
    │   ├── TemplateSyntaxError       it does not parse, or uses a tag that is refused
    │   ├── UndefinedVariableError    it reads names that the context lacks
    │   ├── UnknownNameError          no such filter, test, function or method
    │   ├── TemplateLimitError        a limit on its size or its work is exceeded
    │   └── TemplateRaisedError       it called `raise_exception`
    ├── RenderError                   operator path: `template render failed: KIND: …`
    ├── SpawnError                    operator path: a task could not be started
    ├── ContextError                  the context is not plain data
    ├── TemplateNotFoundError         no such template or partial (also a LookupError)
    ├── SpecError                     a file's front matter, a skill, a tool
    ├── ProviderError                 a context provider failed
    ├── StoreError                    a store of notes or todo lists failed
    └── MissingExtraError             an optional dependency is missing (also an ImportError)

Messages never hold a value of the context. Every error pickles.
"""

from __future__ import annotations

from typing import Any, Self

from .source import Diagnostic, Source, Span

__all__ = [
    "CODES",
    "ContextError",
    "FallbackWarning",
    "MissingExtraError",
    "PromptError",
    "ProviderError",
    "RenderError",
    "SpawnError",
    "SpecError",
    "StoreError",
    "TemplateError",
    "TemplateLimitError",
    "TemplateNotFoundError",
    "TemplateRaisedError",
    "TemplateSyntaxError",
    "UndefinedVariableError",
    "UnknownNameError",
]

CODES: dict[str, str] = {
    # P1: syntax, names and limits of a template
    "P101": "syntax error",
    "P102": "syntax error",
    "P103": "unknown filter",
    "P104": "unknown test",
    "P105": "unknown function",
    "P106": "unknown method",
    "P107": "not available",
    "P108": "private name",
    "P109": "namespace leak",
    "P110": "source too large",
    "P111": "tag too long",
    "P112": "too many branches",
    "P113": "nested too deeply",
    "P114": "too much work",
    "P115": "output too large",
    "P116": "width too large",
    "P117": "took too long",
    "P118": "took too much memory",
    "P119": "process lost",
    "P120": "too many waiting",
    "P121": "broken delimiter",
    "P122": "data in an output",
    # P2: values while rendering
    "P201": "undefined value",
    "P202": "undefined value",
    "P203": "invalid operation",
    "P204": "invalid argument",
    "P205": "template raised",
    "P206": "engine failure",
    "P207": "template used as it stands",
    "P211": "unread input",
    "P212": "unguarded optional",
    "P213": "loop variable outside",
    "P214": "unused name",
    "P215": "shadowed name",
    "P216": "printed collection",
    # P3: providers, and the operators that tasks go to
    "P301": "provider failed",
    "P302": "provider too slow",
    "P303": "invalid contribution",
    "P304": "conflicting providers",
    "P305": "invalid provider",
    "P306": "unknown time zone",
    "P311": "not registered",
    "P312": "rejected by middleware",
    # P4: agent files, skills and tools
    "P401": "invalid front matter",
    "P402": "front matter not closed",
    "P403": "late front matter",
    "P404": "no front matter",
    "P405": "invalid setting",
    "P410": "missing name",
    "P411": "invalid name",
    "P412": "name differs from the folder",
    "P413": "missing description",
    "P414": "text too long",
    "P415": "name taken",
    "P416": "link leaves the folder",
    "P417": "unreadable restriction",
    "P420": "invalid tool",
    "P421": "tool named twice",
    "P431": "unknown tool",
    "P432": "secret in a file",
    "P433": "accidental delimiters",
    "P434": "byte order mark",
    # P5: caching
    "P501": "unread scope",
    "P511": "early change",
    "P512": "unsorted list",
    "P513": "clock for a date",
    # P6: stores
    "P601": "store unavailable",
    "P602": "invalid store address",
    "P603": "store of another version",
    "P604": "invalid id",
    "P605": "invalid todo list",
    "P606": "store not writable",
    "P607": "damaged store",
    # P7: the context
    "P701": "not plain data",
    "P702": "cyclic value",
    "P703": "value too deep",
    "P704": "value too large",
    "P705": "invalid text",
    "P706": "invalid key",
    "P707": "context is no mapping",
    "P708": "name taken already",
    "P710": "missing input",
    "P711": "input of the wrong type",
    "P712": "undeclared slot",
    # P8: files, partials and extras
    "P801": "unreadable file",
    "P802": "not UTF-8",
    "P803": "template not found",
    "P804": "outside the folder",
    "P805": "cyclic include",
    "P806": "invalid JSON",
    "P807": "missing extra",
    "P808": "file exists",
    "P809": "unknown counter",
    "P810": "invalid settings",
    # P82: batches
    "P820": "no rows",
    "P821": "unknown format",
    "P822": "mixed schemas",
    "P823": "damaged input",
    "P824": "output exists",
    "P825": "output of others",
    "P826": "worker lost",
    "P827": "uneven row",
    "P828": "output not written",
    "P829": "unknown engine",
    # P85: requests to the service
    "P851": "not authorized",
    "P852": "not allowed",
    "P853": "not found",
    "P854": "changed meanwhile",
    "P855": "request too large",
    "P856": "too busy",
    "P857": "invalid request",
    # P9: white space and safety of prompts
    "P901": "blank line left",
    "P902": "joined lines",
    "P903": "trailing blanks",
    "P904": "tab",
    "P911": "unescaped in a block",
    "P912": "outside text in a structure",
    "P913": "computed partial",
    "P914": "safe filter",
    "P915": "control token",
}
"""The kind of failure that each code is, in the words that errors use."""


def _rebuild(cls: type[PromptError], state: dict[str, Any]) -> PromptError:
    error = cls.__new__(cls)
    error.__dict__.update(state)
    error.args = (state["message"],)
    return error


class PromptError(Exception):
    """Base of every error that cuecard raises on purpose.

    Args:
        message: one sentence; never a value of the context.
        code: key of `CODES`.
        source: the text that `start` and `end` are offsets of.
        start: character offset of the fault.
        end: character offset after it.
        template: name of the template or file, when there is no `source`.
        hint: the remedy, when known.

    Attributes:
        span: the place, or None.
        template: name of the template or file, or None.
        line_text: the source line of the fault, or "".
        partial: the `Prompt` of what was rendered before a trace failed, or None. It holds
            values, so it is left out of pickles.
    """

    default_code = "P206"
    partial: Any = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        source: Source | None = None,
        start: int | None = None,
        end: int | None = None,
        template: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hint = hint
        self.span: Span | None = None
        self.template = template
        self.line_text = ""
        if source is not None:
            self.template = template or source.name
            if start is not None:
                self.span = source.span(start, start if end is None else end)
                self.line_text = source.line_text(self.span.line)

    @property
    def kind(self) -> str:
        """The code in words, such as `undefined value`."""
        return CODES[self.code]

    @property
    def place(self) -> str:
        """`template:line:column`, as far as known; "" when nothing is."""
        place = self.template or ""
        if self.span is not None:
            place = f"{place or 'template'}:{self.span.line}:{self.span.column}"
        return place

    def __str__(self) -> str:
        text = f"{self.code} {self.message}"
        if self.place:
            text = f"{self.place}: {text}"
        if self.hint:
            text += f" ({self.hint})"
        return text

    def without_frames(self) -> Self:
        """The error, fit to be kept: frames that it passed would keep all that they hold."""
        passed: BaseException | None = self
        while passed is not None:
            passed.__traceback__ = None
            passed = passed.__cause__ or passed.__context__
        return self

    def diagnostic(self) -> Diagnostic:
        """The error as a finding among others."""
        return Diagnostic(self.code, self.message, self.span, self.template, "error", self.hint)

    def report(self) -> str:
        """The error over several lines: place, source line with a caret, and hint."""
        first = f"{self.code} {self.message}"
        lines = [_visible(f"{self.place}: {first}" if self.place else first)]
        if self.span is not None and self.line_text:
            shown, caret = _excerpt(self.line_text, self.span)
            number = str(self.span.line)
            lines += [f"  {number} | {shown}", f"  {' ' * len(number)} | {caret}"]
        if self.hint:
            lines.append(f"  hint: {_visible(self.hint)}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        state = {key: value for key, value in self.__dict__.items() if key != "partial"}
        return _rebuild, (type(self), state)


def _excerpt(line: str, span: Span, width: int = 100) -> tuple[str, str]:
    """The part of a long line around the span, and the carets under it."""
    line = _visible(line)
    column = span.column - 1
    begin = max(0, column - width // 2) if len(line) > width else 0
    shown = line[begin : begin + width]
    length = span.end - span.start if span.end_line == span.line else len(line) - column
    length = max(1, min(length, begin + len(shown) - column))
    # Tabs stay tabs in the padding, so that the caret stands under its character.
    padding = "".join("\t" if c == "\t" else " " * _cells(c) for c in line[begin:column])
    return shown, padding + "^" * max(1, sum(map(_cells, line[column : column + length])))


def _visible(text: str) -> str:
    """Text without characters that would move a terminal's cursor, one for one."""
    if text.isprintable():
        return text
    return "".join(
        chr(0x2400 + ord(c)) if c < " " and c != "\t" else "\ufffd" if _moves(c) else c
        for c in text
    )


def _moves(character: str) -> bool:
    return not character.isprintable() and character != "\t" and not character.isspace()


def _cells(character: str) -> int:
    """Columns of a terminal that a character takes."""
    if character.isascii():
        return 1
    import unicodedata

    if unicodedata.combining(character) or character == "\u200d":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class TemplateError(PromptError):
    """A template cannot be read, or fails while it renders."""

    default_code = "P203"


class TemplateSyntaxError(TemplateError):
    """The template does not parse, or uses a tag that its profile refuses."""

    default_code = "P101"


class UndefinedVariableError(TemplateError):
    """The template reads names or attributes that the context lacks.

    Attributes:
        variables: every missing name at once, the one that failed first.
    """

    default_code = "P201"
    variables: tuple[str, ...] = ()

    def __init__(self, message: str, *, variables: tuple[str, ...] = (), **place: Any) -> None:
        super().__init__(message, **place)
        self.variables = variables


class UnknownNameError(TemplateError):
    """The template uses a filter, test, function or method that does not exist."""

    default_code = "P103"


class TemplateLimitError(TemplateError):
    """A limit on the template's size or on its work is exceeded."""

    default_code = "P114"


class TemplateRaisedError(TemplateError):
    """The template called `raise_exception(message)`."""

    default_code = "P205"


class RenderError(PromptError):
    """The operator path's failure: `template render failed: KIND: message`.

    The error that caused it is its `__cause__`.
    """

    def __str__(self) -> str:
        return self.message


class SpawnError(PromptError):
    """A task could not be started: `internal: ...`, `not registered: ...` or `rejected ...`.

    Attributes:
        reason: `"internal"`, `"not_registered"` or `"rejected_by_middleware"`.
    """

    reason: str = "internal"

    @classmethod
    def internal(
        cls, message: str, *, code: str | None = None, hint: str | None = None
    ) -> SpawnError:
        """Something failed on the way, such as the render of the system prompt."""
        return cls(f"internal: {message}", code=code, hint=hint)

    @classmethod
    def not_registered(cls, agent: str) -> SpawnError:
        """No operator is registered for the agent of a task."""
        error = cls(f"not registered: {agent}", code="P311")
        error.reason = "not_registered"
        return error

    @classmethod
    def rejected_by_middleware(cls, message: str) -> SpawnError:
        """A middleware of the runtime did not let the task pass."""
        error = cls(f"rejected by middleware: {message}", code="P312")
        error.reason = "rejected_by_middleware"
        return error

    def __str__(self) -> str:
        return self.message


class ContextError(PromptError):
    """A value of the context is not plain data.

    Attributes:
        path: where the value stands, such as `$.tools[3].parameters`.
    """

    default_code = "P701"
    path: str = "$"

    def __init__(self, message: str, *, path: str = "$", **place: Any) -> None:
        super().__init__(f"{message} - at `{path}`", **place)
        self.path = path


class TemplateNotFoundError(PromptError, LookupError):
    """A template or partial does not exist, or lies outside its folder."""

    default_code = "P803"


class SpecError(PromptError):
    """A file's front matter, a skill or a tool specification is invalid."""

    default_code = "P401"


class ProviderError(PromptError):
    """A context provider failed."""

    default_code = "P301"


class StoreError(PromptError):
    """A store of notes or todo lists failed."""

    default_code = "P601"


class MissingExtraError(PromptError, ImportError):
    """An optional dependency is not installed; the hint says which extra brings it."""

    default_code = "P807"


class FallbackWarning(UserWarning):
    """A template failed under a lenient profile and was returned as it stands."""
