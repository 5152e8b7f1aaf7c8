"""The rules, one a module; `cuecard.lint.rule` says what each has."""
