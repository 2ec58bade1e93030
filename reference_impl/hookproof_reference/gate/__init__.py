"""The configuration gate: settings of hooks are judged before any hook runs.

    >>> from hookproof_reference.gate.lint import lint_text
    >>> found = lint_text('{"hooks": {"preToolUse": []}}')
    >>> [(finding.rule, finding.line, finding.column) for finding in found if finding.alarm]
    [('event-case', 1, 12)]

`lint` judges one text or file, `session` a whole call of the command; `rules` holds the rules, one family to
a file; `profiles` says against what a file is judged.
"""
