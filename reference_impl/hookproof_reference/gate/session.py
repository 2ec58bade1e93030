"""One call of the linter: options in, what to print and an exit code out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import config, discover, lint
from .config import Config
from .errors import GateError
from .finding import CONSEQUENCES, SEVERITIES
from .near import suggestion
from .profiles import Profile, UnknownProfile, profile
from .rule import CLAUDE, Rule, all_rules

LARGEST = 32 * 1024 * 1024
"""Bytes that are read of one file; more is no settings file."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for; what is None is taken from the configuration."""

    paths: tuple[Path, ...] = ()
    profile: str | None = None
    compat: str | None = None
    form: str = "text"
    fail_on: str | None = None
    fix: bool = False
    diff: bool = False
    baseline: Path | None = None
    write_baseline: Path | None = None
    config: Path | None = None
    isolated: bool = False
    """Whether configuration files are left alone."""


def run(options: Options) -> tuple[str, int]:
    """Judge the files. 0: accepted, 1: findings, 2: something could not be read. Raises GateError."""
    settings = _config(options)
    against = _profile(options.profile or settings.profile or "claude-code", options.compat or settings.compat)
    paths = list(discover.files(options.paths))
    if not paths:
        folders = ", ".join(str(path) for path in options.paths)
        raise GateError(f"no settings files in {folders}", "name a file, or a folder that holds .claude/settings.json")
    paths = [path for path in paths if not settings.excludes(path)]
    changes = ""
    if options.fix or options.diff:
        from .fix import fix_file

        write = options.fix and not options.diff
        changes = "".join(fix_file(path, write=write) for path in paths if _mendable(path, against))
    report = examine(paths, against, settings)
    if options.write_baseline is not None:
        count = config.write_baseline(report.findings, options.write_baseline)
        return (
            f"{count} known finding{'s' if count != 1 else ''} written to {options.write_baseline}\n",
            2 if report.unread else 0,
        )
    baseline = options.baseline or settings.baseline
    if baseline is not None:
        report.findings, report.baselined = config.without_known(report.findings, baseline)
    from .report import render

    printed = render(report, against, options.form)
    if changes and options.form == "text":
        printed = changes + printed
    return printed, exit_code(report, options.fail_on or settings.fail_on)


def examine(paths: Sequence[Path], against: Profile, settings: Config) -> lint.Report:
    """Every file is looked at; what cannot be read is noted and the rest goes on."""
    report = lint.Report()
    for path in paths:
        shown = str(path)
        try:
            source = _bytes(path)
        except OSError as error:
            report.unread.append((shown, error.strerror or str(error)))
            continue
        place = discover.place_of(path)
        judged = discover.profile_for(place.kind, against)
        found = lint.lint_text(source, judged, path=shown, kind=place.kind, project=place.project, plugin=place.plugin)
        report.files.append(shown)
        report.findings.extend(settings.apply(found, path))
    return report


def audit(folder: Path, form: str) -> tuple[str, int]:
    """Judge a skill package instead of settings."""
    from .package import audit as audited
    from .report import render

    try:
        report = lint.Report(findings=audited(folder), files=[str(folder)])
    except OSError as error:
        raise GateError(f"{folder}: {error.strerror or error}", "name the folder of a skill package") from None
    return render(report, profile("hook-engineering"), form), exit_code(report, "warning")


def exit_code(report: lint.Report, fail_on: str) -> int:
    """2 comes before 1: a file that was not read is not judged."""
    if report.unread:
        return 2
    if fail_on == "never":
        return 0
    least = [str(severity) for severity in SEVERITIES].index(fail_on)
    return 1 if any(SEVERITIES.index(finding.severity) >= least for finding in report.findings) else 0


def _mendable(path: Path, against: Profile) -> bool:
    """The fixes know the form and the names of Claude Code only."""
    kinds = ("settings", "local", "managed", "plugin-hooks")
    return against.dialect in CLAUDE and discover.place_of(path).kind in kinds and path.is_file()


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        source = file.read(LARGEST + 1)
    if len(source) > LARGEST:
        raise OSError(0, f"larger than {LARGEST // 1048576} MiB")
    return source


def _config(options: Options) -> Config:
    if options.config is not None:
        return config.read(options.config)
    return Config() if options.isolated else config.find(Path(os.curdir))


def _profile(name: str, compat: str | None) -> Profile:
    try:
        return profile(name, compat)
    except UnknownProfile as error:
        from .profiles import NAMES

        raise GateError(str(error), suggestion(name, NAMES).lstrip("; ") or None) from None


def listing() -> str:
    """One line for each rule."""
    from .package import RULES as PACKAGE_RULES

    rows = [(rule.id, rule.severity, rule.title) for rule in all_rules().values()]
    rows += [(name, "error", f"{title} (--package)") for name, title in PACKAGE_RULES.items()]
    width = max(len(name) for name, _, _ in rows)
    return "".join(f"{name:{width}}  {severity:7}  {title}\n" for name, severity, title in rows)


def rules_page() -> str:
    """All rules as a page in Markdown, family by family."""
    from importlib import import_module

    from .package import RULES as PACKAGE_RULES
    from .rule import FAMILIES

    rules = all_rules().values()
    lines = [
        "# Rules of `hookproof lint`",
        "",
        f"{len(rules)} rules for settings, {len(PACKAGE_RULES)} for skill packages. `hookproof lint --explain RULE` "
        "shows the remedy, who says so, and a bad and a good example; each example is a test.",
        "",
        "This page is the output of `hookproof lint --list-rules=markdown`.",
    ]
    for family in FAMILIES:
        about = (import_module(f"{__package__}.rules.{family}").__doc__ or "").strip().split("\n")[0]
        lines += [
            "",
            f"## {family.replace('_', ' ')}",
            "",
            about,
            "",
            "| rule | severity | what is wrong | at run time |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| `{rule.id}` | {rule.severity} | {_cell(rule.title)} | {_cell(CONSEQUENCES[rule.consequence])} |"
            for rule in rules
            if rule.family == family
        ]
    lines += [
        "",
        "## package",
        "",
        "A skill package, judged with `--package DIR`.",
        "",
        "| rule | severity | what is wrong |",
        "|---|---|---|",
    ]
    lines += [f"| `{name}` | error | {_cell(title)} |" for name, title in PACKAGE_RULES.items()]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def explain(name: str) -> str:
    """All about one rule."""
    from .package import RULES as PACKAGE_RULES

    rules = all_rules()
    if name in PACKAGE_RULES:
        return f"{name} (error, package)\n\n{PACKAGE_RULES[name]}.\n\nSource: 001; see hookproof lint --package\n"
    if name not in rules:
        raise GateError(f'there is no rule "{name}"{suggestion(name, rules)}', "see hookproof lint --list-rules")
    rule = rules[name]
    return (
        f"{rule.id} ({rule.severity}, {rule.family})\n\n{rule.title}.\n\n"
        f"At run time: {CONSEQUENCES[rule.consequence]}.\nRemedy: {rule.remedy}\nSource: {rule.source}\n"
        f"Versions: {rule.versions}\nProfiles: {', '.join(rule.profiles)}\n\n{_example('Bad', rule)}\n{_example('Good', rule)}"
    )


def _example(title: str, rule: Rule) -> str:
    example = (rule.bad if title == "Bad" else rule.good)[0]
    text = example.settings if isinstance(example.settings, str) else ascii(example.settings)
    shown = "".join(f"    {line}\n" for line in text[:2000].splitlines()) or "    (an empty file)\n"
    for path, content in example.files.items():
        shown += f"  {path}\n" + "".join(f"    {line}\n" for line in content[:2000].splitlines())
    return f"{title}:\n{shown}"
