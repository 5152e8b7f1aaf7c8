"""What the words of the language and of a header mean, in one line each.

An entry of the language has an example and what that renders to, which the tests try.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FILTERS", "FUNCTIONS", "HEADER", "INPUT", "SKILL", "TAGS", "TESTS", "VARIABLES", "Word"]


class Word(NamedTuple):
    """A word of the language.

    Attributes:
        text: what it does.
        example: a template that uses it.
        result: what that renders to.
    """

    text: str
    example: str
    result: str


FILTERS: dict[str, Word] = {
    "abs": Word("The number without its sign.", "{{ -3 | abs }}", "3"),
    "attr": Word("The attribute of that name.", "{{ {'a': 1} | attr('a') }}", "1"),
    "batch": Word(
        "Lists of so many items each, the last one filled up if a filler is given.",
        "{{ [1, 2, 3] | batch(2, 0) | list }}",
        "[[1, 2], [3, 0]]",
    ),
    "bool": Word("Whether the value counts as true.", "{{ 'x' | bool }}", "True"),
    "capitalize": Word(
        "The first character as a capital, the others small.", "{{ 'aBC' | capitalize }}", "Abc"
    ),
    "chain": Word(
        "The items of one list, then of others.", "{{ [1] | chain([2]) | list }}", "[1, 2]"
    ),
    "count": Word("How many items or characters there are.", "{{ [1, 2] | count }}", "2"),
    "d": Word("Another value where this one is absent.", "{{ missing | d('none') }}", "none"),
    "default": Word(
        "Another value where this one is absent; with `true` where it is empty too.",
        "{{ missing | default('none') }}",
        "none",
    ),
    "dictsort": Word(
        "The pairs of a mapping, sorted by key.",
        "{{ {'b': 1, 'a': 2} | dictsort }}",
        "[('a', 2), ('b', 1)]",
    ),
    "e": Word(
        "The text with `<`, `>`, `&` and quotes escaped for HTML.", "{{ '<b>' | e }}", "&lt;b&gt;"
    ),
    "escape": Word(
        "The text with `<`, `>`, `&` and quotes escaped for HTML.",
        "{{ '<b>' | escape }}",
        "&lt;b&gt;",
    ),
    "filesizeformat": Word(
        "A number of bytes as people write it.", "{{ 2000 | filesizeformat }}", "2.0 kB"
    ),
    "first": Word("The first item.", "{{ [1, 2] | first }}", "1"),
    "float": Word("The value as a number with a fraction.", "{{ '1.5' | float }}", "1.5"),
    "format": Word("A printf-style format, filled in.", "{{ '%s: %d' | format('a', 3) }}", "a: 3"),
    "groupby": Word(
        "Groups of items with the same attribute, each with `grouper` and `list`.",
        "{% for g in [{'k': 'x'}, {'k': 'y'}] | groupby('k') %}{{ g.grouper }} {% endfor %}",
        "x y ",
    ),
    "indent": Word(
        "The text with every line but the first indented.", "{{ 'a\\nb' | indent(2) }}", "a\n  b"
    ),
    "int": Word("The value as a whole number.", "{{ '12' | int }}", "12"),
    "items": Word("The pairs of a mapping.", "{{ {'a': 1} | items }}", "[('a', 1)]"),
    "join": Word(
        "The items as one text, with a text between them.", "{{ ['a', 'b'] | join(', ') }}", "a, b"
    ),
    "json": Word("The value as JSON; the same as `tojson`.", "{{ ['a'] | json }}", '["a"]'),
    "last": Word("The last item.", "{{ [1, 2] | last }}", "2"),
    "length": Word("How many items or characters there are.", "{{ [1, 2] | length }}", "2"),
    "lines": Word("The lines of a text, as a list.", "{{ 'a\\nb' | lines }}", "['a', 'b']"),
    "list": Word("The items, or the characters, as a list.", "{{ 'ab' | list }}", "['a', 'b']"),
    "lower": Word("The text in small letters.", "{{ 'AB' | lower }}", "ab"),
    "map": Word(
        "An attribute of each item, or a filter on each.",
        "{{ [{'n': 'a'}] | map(attribute='n') | list }}",
        "['a']",
    ),
    "max": Word("The largest item.", "{{ [1, 3, 2] | max }}", "3"),
    "min": Word("The smallest item.", "{{ [2, 1, 3] | min }}", "1"),
    "pluralize": Word(
        "The ending of a plural, unless there is one.", "item{{ 2 | pluralize }}", "items"
    ),
    "pprint": Word("The value laid out for reading.", "{{ 'a' | pprint }}", "'a'"),
    "raw": Word("The value as it is: nothing is ever escaped.", "{{ '<b>' | raw }}", "<b>"),
    "reject": Word(
        "The items that do not pass a test.", "{{ [1, 2] | reject('odd') | list }}", "[2]"
    ),
    "rejectattr": Word(
        "The items whose attribute does not pass a test.",
        "{{ [{'a': 1}] | rejectattr('a', 'odd') | list }}",
        "[]",
    ),
    "replace": Word(
        "The text with one part replaced by another.", "{{ 'aba' | replace('a', 'x') }}", "xbx"
    ),
    "reverse": Word("The items, or the text, from the end.", "{{ 'abc' | reverse }}", "cba"),
    "round": Word("The number, rounded to so many digits.", "{{ 2.345 | round(1) }}", "2.3"),
    "safe": Word("Marks text as escaped; here nothing ever is.", "{{ '<b>' | safe }}", "<b>"),
    "select": Word("The items that pass a test.", "{{ [1, 2] | select('odd') | list }}", "[1]"),
    "selectattr": Word(
        "The items whose attribute passes a test.",
        "{{ [{'a': 1}, {'a': 2}] | selectattr('a', 'odd') | map(attribute='a') | list }}",
        "[1]",
    ),
    "slice": Word(
        "The items in so many lists.", "{{ [1, 2, 3] | slice(2) | list }}", "[[1, 2], [3]]"
    ),
    "sort": Word(
        "The items sorted, by an attribute if one is named.", "{{ [2, 1] | sort }}", "[1, 2]"
    ),
    "split": Word(
        "The parts of a text between separators.", "{{ 'a,b' | split(',') | list }}", "['a', 'b']"
    ),
    "string": Word("The value as text.", "{{ 3 | string | length }}", "1"),
    "striptags": Word("The text without tags of HTML.", "{{ '<b>a</b>' | striptags }}", "a"),
    "sum": Word("The sum of the items.", "{{ [1, 2] | sum }}", "3"),
    "title": Word("Each word with a capital.", "{{ 'a word' | title }}", "A Word"),
    "tojson": Word("The value as JSON.", "{{ {'a': 'ü'} | tojson }}", '{"a": "ü"}'),
    "trim": Word("The text without white space at its ends.", "{{ ' a ' | trim }}", "a"),
    "truncate": Word(
        "The text cut to so many characters, with dots.",
        "{{ 'abcdefghij' | truncate(length=6, killwords=true, leeway=0) }}",
        "abc...",
    ),
    "unique": Word("The items, each of them once.", "{{ [1, 1, 2] | unique | list }}", "[1, 2]"),
    "upper": Word("The text in capitals.", "{{ 'ab' | upper }}", "AB"),
    "urlencode": Word("The text as a part of an address.", "{{ 'a b' | urlencode }}", "a%20b"),
    "wordwrap": Word(
        "The text in lines of at most so many characters.",
        "{{ 'aa bb' | wordwrap(width=2) }}",
        "aa\nbb",
    ),
    "xml_text": Word(
        "The text with `&`, `<` and `>` escaped, for a block in angle brackets.",
        "{{ 'a < b' | xml_text }}",
        "a &lt; b",
    ),
    "zip": Word(
        "The items of lists, paired.",
        "{{ [1, 2] | zip(['a', 'b']) | list }}",
        "[(1, 'a'), (2, 'b')]",
    ),
}

TESTS: dict[str, Word] = {
    "boolean": Word("It is true or false.", "{{ true is boolean }}", "True"),
    "defined": Word("It is there.", "{{ missing is defined }}", "False"),
    "divisibleby": Word("It is a multiple of a number.", "{{ 4 is divisibleby(2) }}", "True"),
    "endingwith": Word("The text ends so.", "{{ 'abc' is endingwith('c') }}", "True"),
    "eq": Word("It equals a value.", "{{ 1 is eq(1) }}", "True"),
    "equalto": Word("It equals a value.", "{{ 1 is equalto(1) }}", "True"),
    "escaped": Word("It is marked as escaped.", "{{ 'a' is escaped }}", "False"),
    "even": Word("It is an even number.", "{{ 2 is even }}", "True"),
    "false": Word("It is `false`.", "{{ false is false }}", "True"),
    "filter": Word("A filter of that name exists.", "{{ 'upper' is filter }}", "True"),
    "float": Word("It is a number with a fraction.", "{{ 1.5 is float }}", "True"),
    "ge": Word("It is as large as a value, or larger.", "{{ 2 is ge(2) }}", "True"),
    "greaterthan": Word("It is larger than a value.", "{{ 2 is greaterthan(1) }}", "True"),
    "gt": Word("It is larger than a value.", "{{ 2 is gt(1) }}", "True"),
    "in": Word("It is an item, a key or a part of a value.", "{{ 'a' is in(['a']) }}", "True"),
    "int": Word("It is a whole number.", "{{ 1 is int }}", "True"),
    "integer": Word("It is a whole number.", "{{ 1 is integer }}", "True"),
    "iterable": Word("A loop can go over it.", "{{ [1] is iterable }}", "True"),
    "le": Word("It is as small as a value, or smaller.", "{{ 2 is le(2) }}", "True"),
    "lessthan": Word("It is smaller than a value.", "{{ 1 is lessthan(2) }}", "True"),
    "lower": Word("All its letters are small.", "{{ 'a' is lower }}", "True"),
    "lt": Word("It is smaller than a value.", "{{ 1 is lt(2) }}", "True"),
    "mapping": Word("It has keys.", "{{ {'a': 1} is mapping }}", "True"),
    "ne": Word("It differs from a value.", "{{ 1 is ne(2) }}", "True"),
    "none": Word("It is null.", "{{ none is none }}", "True"),
    "number": Word("It is a number.", "{{ 1 is number }}", "True"),
    "odd": Word("It is an odd number.", "{{ 1 is odd }}", "True"),
    "safe": Word("It is marked as escaped.", "{{ 'a' is safe }}", "False"),
    "sameas": Word("It is the very same value.", "{{ true is sameas(true) }}", "True"),
    "sequence": Word("It is a list.", "{{ [1] is sequence }}", "True"),
    "startingwith": Word("The text begins so.", "{{ 'abc' is startingwith('a') }}", "True"),
    "string": Word("It is text.", "{{ 'a' is string }}", "True"),
    "test": Word("A test of that name exists.", "{{ 'odd' is test }}", "True"),
    "true": Word("It is `true`.", "{{ true is true }}", "True"),
    "undefined": Word("It is absent.", "{{ missing is undefined }}", "True"),
    "upper": Word("All its letters are capitals.", "{{ 'A' is upper }}", "True"),
}

FUNCTIONS: dict[str, Word] = {
    "cycler": Word(
        "Gives its values in turn, by `next()`.",
        "{% set c = cycler(['a', 'b']) %}{{ c.next() }}{{ c.next() }}",
        "ab",
    ),
    "dict": Word("A mapping of its arguments.", "{{ dict(a=1).a }}", "1"),
    "joiner": Word(
        "Prints a text at every call but the first.",
        "{% set j = joiner(', ') %}{{ j() }}a{{ j() }}b",
        "a, b",
    ),
    "namespace": Word(
        "A place whose values survive the end of a loop.",
        "{% set n = namespace(x=0) %}{% for i in [2] %}{% set n.x = i %}{% endfor %}{{ n.x }}",
        "2",
    ),
    "raise_exception": Word(
        "Ends the render with a message.",
        "{% if false %}{{ raise_exception('no') }}{% endif %}",
        "",
    ),
    "range": Word("Numbers up to, and without, a bound.", "{{ range(3) | list }}", "[0, 1, 2]"),
}

TAGS: dict[str, Word] = {
    "autoescape": Word(
        "Switches escaping for a block.", "{% autoescape false %}{{ '<' }}{% endautoescape %}", "<"
    ),
    "block": Word(
        "A block that a template which extends this one may replace.",
        "{% block a %}x{% endblock %}",
        "x",
    ),
    "break": Word("Ends the loop.", "{% for i in [1, 2] %}{{ i }}{% break %}{% endfor %}", "1"),
    "call": Word(
        "Calls a macro with a block, which it prints by `caller()`.",
        "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}x{% endcall %}",
        "[x]",
    ),
    "continue": Word(
        "Goes on with the next item of the loop.",
        "{% for i in [1, 2] %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
        "2",
    ),
    "do": Word(
        "Calls a macro and prints nothing.",
        "{% macro m() %}x{% endmacro %}{% do m() %}",
        "",
    ),
    "extends": Word(
        "Takes another template and replaces its blocks.", "{% extends 'layout.j2' %}", ""
    ),
    "filter": Word("Applies a filter to a block.", "{% filter upper %}a{% endfilter %}", "A"),
    "for": Word(
        "Repeats a block for each item; `else` is for none.",
        "{% for i in [1, 2] %}{{ i }}{% else %}none{% endfor %}",
        "12",
    ),
    "from": Word("Takes macros of another template.", "{% from 'macros.j2' import greet %}", ""),
    "if": Word(
        "Prints a block on a condition.",
        "{% if 1 > 2 %}a{% elif 2 > 1 %}b{% else %}c{% endif %}",
        "b",
    ),
    "import": Word(
        "Takes another template's macros under one name.", "{% import 'macros.j2' as m %}", ""
    ),
    "include": Word("Renders another template here.", "{% include 'rules.j2' %}", ""),
    "macro": Word(
        "A block that is printed when it is called.",
        "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}",
        "<1>",
    ),
    "raw": Word("Text that is no template.", "{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
    "set": Word("Gives a value a name.", "{% set x = 1 %}{{ x }}", "1"),
    "with": Word("Names that hold within a block.", "{% with x = 1 %}{{ x }}{% endwith %}", "1"),
}

VARIABLES: dict[str, str] = {
    "agent_id": "What the runtime knows the agent by.",
    "agent_name": "The agent's name.",
    "context": "What the task is to be done with.",
    "current_date": "The date in the user's time zone, such as `2026-11-29`.",
    "current_datetime": "The time in UTC, such as `2026-11-29T18:42:00Z`.",
    "current_time": "The time in the user's time zone, such as `18:42`.",
    "directive": "What the agent is to do.",
    "environment": "Facts about the machine where commands run.",
    "intent": "A hint of what the task is about.",
    "loop": "The loop that this is in: `loop.index`, `loop.first`, `loop.last`, …",
    "mcp": "The configured MCP servers: `name`, `server`, `description`.",
    "namespace": "Where the agent belongs to.",
    "session_id": "The session.",
    "skills": "The skills that the agent may use.",
    "todo_list_md": "The todo list as Markdown.",
    "todos": "The entries of the todo list.",
    "tools": "The enabled tools: `name`, `description`, `parameters`.",
    "user": "The user's preferences, verbatim.",
    "user_id": "The user.",
    "user_notes": "What the agent remembers of the user.",
    "user_profile": "What is known of the user.",
    "vision": "What the agent can see.",
    "workspace": "The folder that the agent works in.",
}
"""What the variables hold that come with the library."""

HEADER: dict[str, str] = {
    "name": "The agent's name. Without it, the file's name is taken.",
    "description": "What the agent is for, and when to use it.",
    "model": "The model that it asks for, in the author's words.",
    "tools": "The tools that it may use: names with commas between them, or a list.",
    "profile": "How the text is rendered: `strict`, `operator`, `markdown` or `live`.",
    "inputs": "The variables that the text takes: a type each, or a mapping with more to say.",
    "id": "What a runtime knows the agent by.",
    "namespace": "Where the agent belongs to.",
}
"""The keys of an agent's header."""

SKILL: dict[str, str] = {
    "name": "The skill's name, which is its folder's: small letters, digits and single hyphens.",
    "description": "What the skill does, and when to use it.",
    "license": "The licence, or the file that holds it.",
    "compatibility": "What the skill needs to work.",
    "allowed-tools": "The tools that may be used with it.",
    "metadata": "Further keys and texts.",
}
"""The keys of a skill's header."""

INPUT: dict[str, str] = {
    "type": "`string`, `integer`, `number`, `boolean`, `array`, `object` or `any`.",
    "required": "Whether a render fails without it: `true` or `false`.",
    "default": "The value when it is absent.",
    "description": "What it is for.",
    "name": "The variable's name, when `inputs` is a list.",
}
"""The keys of an input."""
