"""One template under the four profiles, with and without a value that it reads."""

import warnings
from pathlib import Path

import cuecard

source = Path(__file__).with_name("prompt.j2").read_text(encoding="utf-8")
warnings.simplefilter("ignore", cuecard.FallbackWarning)
for profile in (cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN, cuecard.LIVE):
    template = cuecard.Template(source, profile=profile, name="prompt.j2")
    print(profile.name)
    for context in ({"user": {"name": "Ann", "city": {"name": "Bergen"}}}, {"user": {}}, {}):
        try:
            print(f"  {template.render(context)!r}")
        except cuecard.PromptError as error:
            print(f"  {error}")

print("a broken template, live")
print(f"  {cuecard.render('Hello {{ name', {}, profile=cuecard.LIVE)!r}")
