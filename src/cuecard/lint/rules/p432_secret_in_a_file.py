"""The file holds what looks like a secret.

## What it does

Looks for private keys, and for access tokens whose form is known by their first letters: of
AWS, Anthropic, GitHub, GitLab, Google, Hugging Face, npm, OpenAI, PyPI, Slack and Stripe. What
is visibly an example is passed over: a token with few different characters, with a row like
`1234567890`, or with a word such as `EXAMPLE` in it. The finding does not repeat the secret.

## Why it matters

A prompt is sent to a model provider, kept in logs, and often published. Whoever reads the
secret there can use it.

## Example

```markdown
---
name: deployer
description: Deploys a service.
---
Call the service with the key gh\u0070_Qm7Zt2LkV9xRb4WcYd8NfJ3sPa6HgUe1Ti5o.
```

## Use instead

```markdown
---
name: deployer
description: Deploys a service.
---
Call the service with the tool `deploy`, which has the key.
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P432"
NAME = "secret-in-a-file"
GROUP = "files"
SEVERITY = "error"
FIXES = None

_FORMS = (
    ("AKIA", "an access key of AWS", r"AKIA[A-Z2-7]{16}"),
    ("ASIA", "an access key of AWS", r"ASIA[A-Z2-7]{16}"),
    ("sk-ant-", "a key of Anthropic", r"sk-ant-[a-z]+\d\d-[\w-]{60,}"),
    ("sk-", "a key of a model provider", r"sk-(?!ant-)(?:[a-z]+-(?:v\d-)?)?[A-Za-z0-9_-]{32,}"),
    ("ghp_", "a token of GitHub", r"ghp_[A-Za-z0-9]{36,}"),
    ("gho_", "a token of GitHub", r"gho_[A-Za-z0-9]{36,}"),
    ("ghu_", "a token of GitHub", r"ghu_[A-Za-z0-9]{36,}"),
    ("ghs_", "a token of GitHub", r"ghs_[A-Za-z0-9]{36,}"),
    ("ghr_", "a token of GitHub", r"ghr_[A-Za-z0-9]{36,}"),
    ("github_pat_", "a token of GitHub", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("glpat-", "a token of GitLab", r"glpat-[\w-]{20,}"),
    ("AIza", "a key of Google", r"AIza[\w-]{35}"),
    ("hf_", "a token of Hugging Face", r"hf_[A-Za-z0-9]{34,}"),
    ("npm_", "a token of npm", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-", "a token of PyPI", r"pypi-AgEI[\w-]{50,}"),
    ("xox", "a token of Slack", r"xox[abeoprs]-[A-Za-z0-9-]{24,}"),
    ("xapp-", "a token of Slack", r"xapp-\d-[A-Za-z0-9-]{24,}"),
    ("k_live_", "a key of Stripe", r"[rs]k_live_[A-Za-z0-9]{24,}"),
)
_TOKENS = tuple(
    (beginning, what, re.compile(rf"(?<![A-Za-z0-9_-]){form}(?![A-Za-z0-9])"))
    for beginning, what, form in _FORMS
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^\n]*\n){1,6}?[ \t>]*[A-Za-z0-9+/=]{40,}"
)
_EXAMPLE = re.compile(
    r"example|sample|dummy|fake|placeholder|your|secret|token|(.)\1{4}|12345|abcdef|xyz", re.I
)
_SHORTEST = 20
_LEAST_DIFFERENT = 12
_LEAST_DIGITS = 2


def check(document: Document) -> Iterator[Finding]:
    """Each private key and each token, in the header as in the text."""
    text = document.text
    if "PRIVATE KEY" in text:
        for found in _PRIVATE_KEY.finditer(text):
            end = text.index("\n", found.start())
            yield _finding(document, "a private key", found.start(), end)
    # Few words of a prompt are as long as a token: only those are searched for beginnings.
    long_words = " ".join([word for word in text.split() if len(word) >= _SHORTEST])
    for beginning, what, form in _TOKENS:
        if beginning in long_words:
            for found in form.finditer(text):
                if _is_random(found[0].removeprefix(beginning)):
                    yield _finding(document, what, *found.span())


def _is_random(token: str) -> bool:
    digits = sum(character.isdigit() for character in token)
    return (
        len(set(token)) >= _LEAST_DIFFERENT
        and digits >= _LEAST_DIGITS
        and _EXAMPLE.search(token) is None
    )


def _finding(document: Document, what: str, start: int, end: int) -> Finding:
    return document.found_in_file(
        f"this looks like {what}",
        start,
        end,
        "remove it, have it revoked, and give secrets to tools instead of prompts",
    )
