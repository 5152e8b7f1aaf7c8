"""Partials: files that a template includes, imports or extends, and that never lead out."""

import dataclasses
import os
import time
from pathlib import Path
from typing import Any

import pytest

import cuecard

SECRET = "outside"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a secret beside it; the partials of a test go into it."""
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def write(home: Path, **files: str | bytes) -> cuecard.Folder:
    """Write partials; `__` in a name stands for a folder."""
    for name, content in files.items():
        path = home.joinpath(*name.split("__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return cuecard.Folder(home)


def render(home: Path, template: str, context: Any = None, **options: Any) -> str:
    return cuecard.Template(template, partials=cuecard.Folder(home), **options).render(context)


def fails(home: Path, template: str, context: Any = None, **options: Any) -> cuecard.PromptError:
    with pytest.raises(cuecard.PromptError) as caught:
        render(home, template, context, **options)
    return caught.value


class TestComposition:
    def test_include(self, home: Path) -> None:
        """An included text sees the context, loop variables and what was set."""
        write(home, part="<{{ x }}{{ y | default('-') }}>", sub__inner="[{% include 'part' %}]")
        assert render(home, "{% include 'part' %}", {"x": 1}) == "<1->"
        assert render(home, "{% set y = 2 %}{% include 'part' %}", {"x": 1}) == "<12>"
        assert render(home, "{% for x in [1, 2] %}{% include 'part' %}{% endfor %}") == "<1-><2->"
        assert render(home, "{% include 'sub/inner' %}", {"x": 1}) == "[<1->]"

    def test_import(self, home: Path) -> None:
        """Macros and names are imported as a whole or by name, and may be renamed."""
        write(home, macros="{% macro m(a, b='B') %}({{ a }}{{ b }}){% endmacro %}{% set v = 5 %}")
        assert render(home, "{% import 'macros' as k %}{{ k.m(1) }}{{ k.v }}") == "(1B)5"
        assert render(home, "{% from 'macros' import m %}{{ m(1, 2) }}") == "(12)"
        assert render(home, "{% from 'macros' import m as n, v %}{{ n(v) }}") == "(5B)"

    def test_extends(self, home: Path) -> None:
        """A child fills the blocks of its parent, and may keep what was there."""
        write(home, base="A{% block b %}base{% endblock %}{{ x }}Z", mid="{% extends 'base' %}")
        child = "{% extends 'base' %}{% block b %}child+{{ super() }}{% endblock %}"
        assert render(home, child, {"x": 1}) == "Achild+base1Z"
        assert render(home, child.replace("base'", "mid'"), {"x": 1}) == "Achild+base1Z"

    def test_markdown_may_compose(self, home: Path) -> None:
        """MARKDOWN takes partials too, and is lenient in them; its end is one newline."""
        write(home, part="<{{ missing }}>\n\n")
        assert render(home, "{% include 'part' %}\n", profile=cuecard.MARKDOWN) == "<>\n"

    @pytest.mark.parametrize("profile", [cuecard.OPERATOR, cuecard.LIVE], ids=lambda p: p.name)
    def test_others_may_not(self, home: Path, profile: cuecard.Profile) -> None:
        """A folder does not change what OPERATOR and LIVE refuse."""
        write(home, part="p")
        strict = dataclasses.replace(profile, fallback=False)
        error = fails(home, "{% include 'part' %}", profile=strict)
        assert error.code == "P107"
        assert render(home, "{{ x }}", {"x": 1}, profile=profile) == "1"

    def test_white_space_of_a_partial(self, home: Path) -> None:
        """A partial keeps its own end; the line of the tag vanishes as for any block."""
        write(home, part="p\n", bare="b")
        assert render(home, "a\n  {% include 'part' %}\nz\n") == "a\np\nz\n"
        assert render(home, "a\n{% include 'bare' %}\nz\n") == "a\nbz\n"

    def test_input_text(self, home: Path) -> None:
        """A partial's byte order mark is dropped, its line ends are kept, its tags vanish."""
        write(home, bom=b"\xef\xbb\xbf<{{ x }}>", crlf="{% if true %}\r\na\r\n{% endif %}\r\nb\r\n")
        assert render(home, "{% include 'bom' %}", {"x": "é"}) == "<é>"
        assert render(home, "{% include 'crlf' %}") == "a\r\nb\r\n"

    def test_newline_lf_counts_for_partials(self, home: Path) -> None:
        """A profile that reads CR LF as LF does so in partials."""
        write(home, crlf="a\r\n{{ x }}\r\n")
        profile = dataclasses.replace(cuecard.STRICT, newline="lf")
        text = render(home, "1\r\n{% include 'crlf' %}", {"x": "b"}, profile=profile)
        assert text == "1\na\nb\n"

    @pytest.mark.parametrize("name", ["a.html", "a.yaml", "a.json", "a.xml.j2", "A.HTM"])
    def test_nothing_is_escaped(self, home: Path, name: str) -> None:
        """The name of a partial does not change its text."""
        write(home, **{name: "{{ x }}"})
        assert render(home, "{% include '" + name + "' %}", {"x": "<&'\">"}) == "<&'\">"

    def test_names_of_all_kinds(self, home: Path) -> None:
        """Names may hold blanks, any letters, dots and a leading `./`."""
        write(home, **{"sp ace": "1", "日本.md": "2", "a..b": "3", ".hidden": "4", "a__b": "5"})
        for name, text in {
            "sp ace": "1",
            "日本.md": "2",
            "a..b": "3",
            ".hidden": "4",
            "./a/b": "5",
            "a//b": "5",
        }.items():
            assert render(home, "{% include '" + name + "' %}") == text

    def test_computed_names(self, home: Path) -> None:
        """A name may come from the context, from a list of choices, or from an expression."""
        write(home, one="1{{ x }}", two="2", sub__one="s")
        context = {"n": "one", "x": "x", "names": ["none", "two"]}
        assert render(home, "{% include n %}", context) == "1x"
        assert render(home, "{% include 'sub/' ~ n %}", context) == "s"
        assert render(home, "{% include names %}", context) == "2"
        assert render(home, "{% include ['none', 'one'] %}", context) == "1x"
        assert render(home, "{% include n if n == 'one' else 'two' %}", context) == "1x"
        assert render(
            home, "{% for n in ['one', 'two'] %}{% include n %}{% endfor %}", context
        ) == ("1x2")

    def test_guard_holds_in_partials(self, home: Path) -> None:
        """In a partial, too, no method of a container is shown and null prints nothing."""
        loop = "{% for k, v in x.items() %}{{ k }}{% endfor %}"
        write(home, part="[{{ x.items }}{{ n }}{{ x.get('z') }}" + loop + "]")
        template = cuecard.Template("{% include 'part' %}{{ x }}", partials=cuecard.Folder(home))
        for _ in range(3):
            assert template.render(x={"a": 1}, n=None) == "[a]{'a': 1}"


class TestContainment:
    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("../secret", "leaves"),
            ("a/../../secret", "leaves"),
            ("a/..", "leaves"),
            ("..", "leaves"),
            ("/etc/hostname", "absolute"),
            ("//host/share", "absolute"),
            ("C:/secret", "absolute"),
            ("c:secret", "absolute"),
            ("..\\\\secret", "backslash"),
            ("a\\\\b", "backslash"),
            ("\\\\\\\\host\\\\share", "backslash"),
            ("a\0b", "NUL"),
            ("link", "leads out"),
            ("folder/secret", "leads out"),
            ("chain", "leads out"),
        ],
    )
    @pytest.mark.parametrize(
        "tag",
        [
            "{% include '~' %}",
            "{% include '~' ignore missing %}",
            "{% import '~' as x %}",
            "{% from '~' import x %}",
            "{% extends '~' %}",
            "{% include ['~', 'fine'] %}",
            "{% include ['none', '~'] ignore missing %}",
        ],
    )
    def test_no_name_leads_out(self, home: Path, name: str, says: str, tag: str) -> None:
        """A name that leads out is refused, with the reason, and is never read."""
        write(home, fine="fine")
        (home / "link").symlink_to(home.parent / "secret")
        (home / "folder").symlink_to(home.parent)
        (home / "chain").symlink_to(home / "link")
        error = fails(home, tag.replace("~", name))
        assert isinstance(error, cuecard.TemplateNotFoundError)
        assert isinstance(error, LookupError)
        assert error.code == "P804"
        assert says in error.message
        assert "relative to the folder" in (error.hint or "")
        assert SECRET not in error.report()

    @pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "a\0b", "link", "a\\b", "C:/x"])
    @pytest.mark.parametrize("tag", ["{% include n %}", "{% include n ignore missing %}"])
    def test_no_computed_name_leads_out(self, home: Path, name: str, tag: str) -> None:
        """A name from the context is refused alike, at the place of the tag, and is not shown."""
        (home / "link").symlink_to(home.parent / "secret")
        error = fails(home, "a\n" + tag, {"n": name})
        assert error.code == "P804"
        assert error.span is not None
        assert error.span.line == 2
        assert name not in error.message

    def test_refusal_has_its_place(self, home: Path) -> None:
        """The place is the name in the tag, also within a partial."""
        write(home, part="a\n b {% include '../secret' %}")
        error = fails(home, "x {% include '../secret' %}")
        assert error.place == "system:1:14"
        error = fails(home, "{% include 'part' %}")
        assert error.place == f"{home / 'part'}:2:15"

    def test_links_that_stay(self, home: Path) -> None:
        """A symbolic link within the folder, and the folder as a link, may be used."""
        write(home, sub__part="p")
        (home / "file").symlink_to(home / "sub" / "part")
        (home / "folder").symlink_to(home / "sub")
        assert render(home, "{% include 'file' %}{% include 'folder/part' %}") == "pp"
        link = home.parent / "linked"
        link.symlink_to(home)
        assert render(link, "{% include 'sub/part' %}{% include 'file' %}") == "pp"

    @pytest.mark.parametrize(
        "name",
        ["none", "", ".", "sub", "sub/", "dangling", "loop", "pipe", "a" * 300, "sub/" * 2000],
        ids=lambda name: name[:9],
    )
    def test_what_is_no_file(self, home: Path, name: str) -> None:
        """A folder, a broken link, a pipe and a name that is too long are not found, at once."""
        (home / "sub").mkdir()
        (home / "dangling").symlink_to(home / "gone")
        (home / "loop").symlink_to(home / "loop")
        os.mkfifo(home / "pipe")
        error = fails(home, "{% include '" + name + "' %}")
        assert isinstance(error, cuecard.TemplateNotFoundError)
        assert error.code == "P803"
        assert error.place == "system:1:12"
        assert len(error.message) < 200
        assert render(home, "{% include '" + name + "' ignore missing %}|") == "|"
        error = fails(home, "{% include n %}", {"n": name})
        assert error.code == "P803"
        assert render(home, "{% include n ignore missing %}|", {"n": name}) == "|"

    @pytest.mark.parametrize("name", [5, 1.5, True, {"a": 1}, [5]])
    def test_name_that_is_no_text(self, home: Path, name: Any) -> None:
        """A name that is no text is an error of ours."""
        assert fails(home, "{% include n %}", {"n": name}).code in ("P203", "P803", "P204")

    def test_absent_name(self, home: Path) -> None:
        """An absent variable as a name is reported as absent, not as a wrong kind of name."""
        for tag in ("{% include n %}", "{% include n ignore missing %}", "{% import n as m %}"):
            error = fails(home, tag)
            assert isinstance(error, cuecard.UndefinedVariableError)
            assert error.variables == ("n",)

    def test_folder_that_is_none(self, home: Path) -> None:
        """A folder that does not exist, or is a file, is refused when it is named."""
        for path in (home / "none", home.parent / "secret"):
            with pytest.raises(cuecard.TemplateNotFoundError) as caught:
                cuecard.Folder(path)
            assert caught.value.code == "P803"
            assert str(path) in str(caught.value)

    def test_folder_is_a_value(self, home: Path) -> None:
        """Two folders of one path are equal, whichever way it is written."""
        write(home, sub__part="p")
        assert cuecard.Folder(home) == cuecard.Folder(home / "sub" / "..")
        assert hash(cuecard.Folder(home)) == hash(cuecard.Folder(str(home)))
        assert cuecard.Folder(home) != cuecard.Folder(home / "sub")


class TestErrorsWithin:
    @pytest.mark.parametrize(
        ("content", "code", "line"),
        [
            ("a\n{{ missing }}", "P201", 2),
            ("a\n\n{{ x.missing }}", "P202", 3),
            ("a\n{{ missing | length }}", "P201", 2),
            ("é\n{{ x | nofilter }}", "P103", 2),
            ("é\n日本\n{{ x is notest }}", "P104", 3),
            ("{{ nofunction() }}", "P105", 1),
            ("a\r\n{{ 'a' + 1 }}", "P203", 2),
            ("a\n{{ raise_exception('x') }}", "P205", 2),
            ("a\n{{ '%9999s' | format(1) }}", "P116", 2),
            ("a\n{% if true %}", "P101", 2),
            ("a\n{% if %}{% endif %}", "P101", 2),
            ("a\n{{ x", "P101", 2),
            ("a\n{% nosuchtag %}", "P102", 2),
            ("a\n{{ x._y }}", "P108", 2),
            ("a\n{% set n = namespace() %}{{ n }}", "P109", 2),
            ("a\n{% include 'none' %}", "P803", 2),
            ("a\n" + "{{ 1" + "+1" * 600 + " }}", "P111", 2),
        ],
    )
    @pytest.mark.parametrize("tag", ["{% include 'part' %}", "{% include n %}"])
    def test_have_the_path_and_line(
        self, home: Path, content: str, code: str, line: int, tag: str
    ) -> None:
        """An error within a partial names the partial's path, its line and its text."""
        write(home, part=content)
        error = fails(home, "first\n\n\n" + tag, {"x": {}, "n": "part"})
        assert error.code == code
        assert error.template == str(home / "part")
        assert error.span is not None
        assert error.span.line == line
        assert error.line_text == content.split("\n")[line - 1].rstrip("\r")
        assert type(error).__module__ == "cuecard.errors"
        assert type(error).__name__ in cuecard.__all__

    def test_say_what_they_say_in_a_template(self, home: Path) -> None:
        """A partial that does not parse is explained as well as a template."""
        for content in ("{% if x %}a", "{% if %}a{% endif %}", "{{ }}", '{{"a": 1}}', "{{ a b }}"):
            write(home, part=content)
            with pytest.raises(cuecard.TemplateSyntaxError) as alone:
                cuecard.render(content)
            error = fails(home, "{% include 'part' %}")
            assert (error.message, error.hint) == (alone.value.message, alone.value.hint)
            assert error.span == alone.value.span

    def test_two_levels(self, home: Path) -> None:
        """An error is reported where it is, however deep."""
        write(home, a="{% include 'b' %}", b="\n{% include 'c' %}", c="\n\n{{ missing }}")
        error = fails(home, "{% include 'a' %}")
        assert error.place == f"{home / 'c'}:3:4"

    def test_in_a_macro(self, home: Path) -> None:
        """An error in an imported macro is the partial's."""
        write(home, macros="{% macro m(a) %}\n{{ a.missing }}{% endmacro %}")
        error = fails(home, "{% from 'macros' import m %}{{ m({}) }}")
        assert error.template == str(home / "macros")
        assert error.span is not None
        assert error.span.line == 2

    def test_in_a_block(self, home: Path) -> None:
        """An error in a block belongs to the file that holds the block."""
        write(home, base="{% block a %}{% endblock %}\n{% block b %}{{ missing }}{% endblock %}")
        error = fails(home, "{% extends 'base' %}{% block a %}x{% endblock %}")
        assert error.template == str(home / "base")
        error = fails(home, "{% extends 'base' %}\n{% block b %}{{ other }}{% endblock %}")
        assert error.place.startswith("system:2:")

    @pytest.mark.parametrize("tag", ["{% include 'part' %}", "{% include n ignore missing %}"])
    def test_not_utf8(self, home: Path, tag: str) -> None:
        """A partial that is not UTF-8 is named, with the line of the byte."""
        write(home, part=b"ok\nab\xff")
        error = fails(home, tag, {"n": "part"})
        assert (error.code, error.place) == ("P802", f"{home / 'part'}:2:3")

    def test_unreadable(self, home: Path) -> None:
        """A file that vanishes or may not be read is an error of ours."""
        write(home, part="p")
        template = cuecard.Template("{% include 'part' %}", partials=cuecard.Folder(home))
        (home / "part").unlink()
        with pytest.raises(cuecard.TemplateNotFoundError) as caught:
            template.render()
        assert caught.value.code == "P803"

    def test_limits_hold(self, home: Path) -> None:
        """The limits of the profile hold for each partial, and for their work together."""
        write(
            home,
            large="x" * 2000,
            deep="{% if 1 %}" * 9 + "{% endif %}" * 9,
            loop="{% for i in range(300) %}.{% endfor %}",
        )
        small = dataclasses.replace(
            cuecard.STRICT, limits=cuecard.Limits(source=1000, nesting=8, fuel=2000)
        )
        for name, code in (("large", "P110"), ("deep", "P113")):
            error = fails(home, "{% include '" + name + "' %}", profile=small)
            assert (error.code, error.template) == (code, str(home / name))
        assert fails(home, "{% include 'loop' %}" * 9, profile=small).code == "P114"


class TestCycles:
    def test_are_named(self, home: Path) -> None:
        """Partials that include each other are an error that names them, before any render."""
        write(home, a="{% include 'b' %}", b="x\n{% include 'c' %}", c="{% include 'a' %}")
        error = fails(home, "{% include 'a' %}")
        assert error.code == "P805"
        assert "a → b → c → a" in error.message
        assert error.template == str(home / "c")
        write(home, me="{% import 'me' as x %}", base="{% extends 'base' %}")
        assert "me → me" in fails(home, "{% include 'me' %}").message
        assert "base → base" in fails(home, "{% extends 'base' %}").message

    def test_diamond_is_none(self, home: Path) -> None:
        """Two ways to one partial are no cycle."""
        write(home, a="{% include 'c' %}", b="{% include 'c' %}", c="c")
        assert render(home, "{% include 'a' %}{% include 'b' %}{% include 'c' %}") == "ccc"

    @pytest.mark.parametrize("names", [["a"], ["b", "c"]])
    def test_computed(self, home: Path, names: list[str]) -> None:
        """A cycle through computed names ends with an error that says so."""
        write(
            home, a="{% include names[0] %}", b="{% include names[1] %}", c="{% include names[0] %}"
        )
        error = fails(home, "{% include names[0] %}", {"names": names})
        assert error.code in ("P113", "P805")
        assert error.template is not None
        assert error.template.startswith(str(home))


class TestChanges:
    def rewrite(self, home: Path, name: str, text: str) -> None:
        """Write a file so that its time of change differs, however coarse the clock is."""
        path = home / name
        before = path.stat().st_mtime_ns if path.exists() else 0
        path.write_text(text, encoding="utf-8")
        if path.stat().st_mtime_ns == before:
            later = time.time_ns() + 10**9
            os.utime(path, ns=(later, later))

    @pytest.mark.parametrize(
        "tag", ["{% include 'part' %}", "{% include n %}", "{% include ['part'] %}"]
    )
    def test_are_seen(self, home: Path, tag: str) -> None:
        """An edit is seen at the next render, however the partial was named."""
        folder = write(home, part="1")
        template = cuecard.Template(tag, partials=folder)
        context = {"n": "part", "x": "X"}
        assert template.render(context) == "1"
        self.rewrite(home, "part", "2{{ x }}")
        assert template.render(context) == "2X"
        self.rewrite(home, "part", "{% if %}")
        for _ in range(2):
            with pytest.raises(cuecard.TemplateSyntaxError):
                template.render(context)
        self.rewrite(home, "part", "3")
        assert template.render(context) == "3"

    def test_deep_are_seen(self, home: Path) -> None:
        """An edit of a partial of a partial is seen, and so are the names that it reads."""
        folder = write(home, a="{% include 'b' %}", b="1")
        template = cuecard.Template("{% include 'a' %}", partials=folder)
        assert template.render() == "1"
        self.rewrite(home, "b", "{{ new }}")
        assert template.render(new="2") == "2"
        assert template.required == {"new"}

    @pytest.mark.parametrize("name", ["'part'", "n"])
    def test_partial_that_appears_later(self, home: Path, name: str) -> None:
        """A partial that was missing is found once it is there, and gone once it is not."""
        tag = "[{% include " + name + " ignore missing %}]"
        template = cuecard.Template(tag, partials=cuecard.Folder(home))
        assert template.render(n="part") == "[]"
        write(home, part="{{ x }}")
        assert template.render(n="part", x=1) == "[1]"
        (home / "part").unlink()
        assert template.render(n="part") == "[]"

    def test_link_that_is_turned(self, home: Path) -> None:
        """A link that is turned outward after the template was read is refused."""
        folder = write(home, fine="fine")
        (home / "part").symlink_to(home / "fine")
        template = cuecard.Template("{% include 'part' %}", partials=folder)
        assert template.render() == "fine"
        (home / "part").unlink()
        (home / "part").symlink_to(home.parent / "secret")
        with pytest.raises(cuecard.TemplateNotFoundError) as caught:
            template.render()
        assert caught.value.code == "P804"

    def test_fallback_while_broken(self, home: Path) -> None:
        """A variant with fallback returns its text while a partial is broken, and recovers."""
        folder = write(home, part="1")
        profile = dataclasses.replace(cuecard.STRICT, fallback=True)
        template = cuecard.Template("{% include 'part' %}", partials=folder, profile=profile)
        assert template.render() == "1"
        self.rewrite(home, "part", "{{ x")
        with pytest.warns(cuecard.FallbackWarning, match="P101"):
            assert template.render() == "{% include 'part' %}"
        self.rewrite(home, "part", "2")
        assert template.render() == "2"


class TestNames:
    def test_of_partials_are_read(self, home: Path) -> None:
        """What partials read is required or optional as in the template itself."""
        write(
            home,
            part="{{ a }}{{ b | default('') }}{% include 'inner' %}",
            inner="{{ c }}",
            macros="{% macro m(p) %}{{ p }}{{ d }}{% endmacro %}",
            base="{% block x %}{{ e }}{% endblock %}{{ f }}",
        )
        folder = cuecard.Folder(home)
        template = cuecard.Template("{% include 'part' %}{{ t }}", partials=folder)
        assert template.required == {"a", "c", "t"}
        assert template.optional == {"b"}
        imported = cuecard.Template("{% from 'macros' import m %}{{ m(1) }}", partials=folder)
        assert imported.variables == {"d"}
        extended = cuecard.Template("{% extends 'base' %}", partials=folder)
        assert extended.required == {"e", "f"}

    def test_all_missing_at_once(self, home: Path) -> None:
        """An error names what the template and its partials miss together."""
        write(home, part="{{ a }}{{ b }}")
        error = fails(home, "{{ t }}{% include 'part' %}")
        assert isinstance(error, cuecard.UndefinedVariableError)
        assert set(error.variables) == {"t", "a", "b"}

    def test_what_surrounds_an_include_binds_for_it(self, home: Path) -> None:
        """A loop variable or a set name that a partial reads is not asked of the context."""
        write(home, row="{{ item }},")
        folder = cuecard.Folder(home)
        looped = "{% for item in things %}{% include 'row' %}{% endfor %}"
        for text, names in (
            (looped, {"things"}),
            ("{% set item = 1 %}{% include 'row' %}", set()),
            ("{% with item = 1 %}{% include 'row' %}{% endwith %}", set()),
            ("{% include 'row' %}{% set item = 1 %}", {"item"}),
        ):
            assert cuecard.Template(text, partials=folder).required == names
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            cuecard.Template(looped + "{{ absent }}", partials=folder).render(things=[1])
        assert caught.value.variables == ("absent",)

    def test_computed_names_let_all_through(self, home: Path) -> None:
        """With a computed name every name of the context may be read, so all are there."""
        write(home, part="{{ unknown_to_the_template }}")
        assert render(home, "{% include n %}", {"n": "part", "unknown_to_the_template": 1}) == "1"
        context = {"n": "part", "unknown_to_the_template": 1, 5: "no name"}
        assert render(home, "{% include n %}", context) == "1"

    def test_unread_values_are_not_looked_at(self, home: Path) -> None:
        """Where all names are written out, what nothing reads may be anything."""
        write(home, part="{{ x }}")
        assert render(home, "{% include 'part' %}", {"x": 1, "bomb": object()}) == "1"
