"""The names that a template reads from its context, and which of them may be absent."""

import pytest

import cuecard

from .case_files import Case, parameters, profile_of


@pytest.mark.parametrize("case", parameters("names.jsonl"))
class TestNames:
    def test_names(self, case: Case) -> None:
        """Every name that is read is known, and required unless all its uses are guarded."""
        template = cuecard.Template(case["template"], profile=profile_of(case))
        assert template.variables == set(case["variables"])
        assert template.required == set(case["required"])
        assert template.optional == template.variables - template.required

    def test_render_agrees(self, case: Case) -> None:
        """Without the optional names a render misses no name; nor with all, as names are null."""
        template = cuecard.Template(case["template"], profile=profile_of(case))
        for names in (template.required, template.variables):
            try:
                template.render(dict.fromkeys(names))
            except cuecard.UndefinedVariableError as error:
                assert not set(error.variables) & template.optional  # noqa: PT017
                assert error.code == "P202" or not names >= template.variables  # noqa: PT017
            except cuecard.PromptError as error:
                assert error.code in ("P105", "P106", "P203", "P204")  # noqa: PT017


def test_template_that_cannot_be_read_has_no_names() -> None:
    """A profile with fallback gives a broken template no names at all."""
    template = cuecard.Template("{{ a }}{% if %}", profile=cuecard.LIVE)
    assert template.variables == template.required == template.optional == frozenset()
