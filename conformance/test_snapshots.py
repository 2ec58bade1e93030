"""The suite itself must not drift: what these scenarios are made of, and what the reference made of them.

Only against the reference. A change that is meant is written with `pytest --runner=reference --snapshot-update` in a
checkout, and is read in the diff before it is kept.
"""

from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

# none whose record is up to chance: several calls at once in a dialect that runs handlers side by side
SCENARIOS = frozenset(
    {
        # in each dialect, its own way
        "core/answers/silence-around-an-allow",
        "core/deny-safe/exit-1",
        "core/envelope/letters-of-all-kinds",
        "core/narrowing/approved-runs",
        "core/ordering/before-and-after",
        "core/rewriting/replaces-the-whole-input",
        "core/veto/prompt-denied",
        "core/veto/second-denies",
        # lecode
        "lecode/answers/half-an-object",
        "lecode/answers/longer-than-a-pipe",
        "lecode/deny-safe/not-json",
        "lecode/deny-safe/missing-handler",
        "lecode/deny-safe/post-failures-change-nothing",
        "lecode/envelope/after-a-raised-error",
        "lecode/envelope/after-an-error-result",
        "lecode/envelope/after-success",
        "lecode/envelope/compaction-and-interrupt",
        "lecode/envelope/end-of-a-run",
        "lecode/envelope/inside-a-session",
        "lecode/envelope/outside-a-session",
        "lecode/envelope/prompt-letter-for-letter",
        "lecode/envelope/start-and-end-of-a-session",
        "lecode/narrowing/ask-refused",
        "lecode/narrowing/permission-events-around-the-question",
        "lecode/ordering/all-run-after-a-deny",
        "lecode/ordering/event-names-are-exact",
        "lecode/rewriting/the-most-severe-rewrites",
        "lecode/veto/ask-is-stronger-than-defer",
        "lecode/veto/second-denies",
        # claude-code, where a case holds in both versions there is a record of each
        "claude-code/answers/contexts-of-three",
        "claude-code/answers/older-block",
        "claude-code/conditions/pattern-of-a-command",
        "claude-code/continue/after-the-tool",
        "claude-code/envelope/after-a-batch",
        "claude-code/envelope/after-a-batch-with-prompt-id",
        "claude-code/envelope/after-a-failure",
        "claude-code/envelope/after-a-failure-with-prompt-id",
        "claude-code/envelope/start-of-a-session",
        "claude-code/envelope/within-a-subagent",
        "claude-code/exit-codes/two-beside-an-allow",
        "claude-code/exit-codes/two-beside-a-broken-form",
        "claude-code/exit-codes/two-hidden-by-a-broken-form",
        "claude-code/matcher/commas-and-blanks",
        "claude-code/matcher/no-commas-yet",
        "claude-code/narrowing/ask-rule-beats-an-allow",
        "claude-code/narrowing/person-says-yes",
        "claude-code/ordering/events-of-a-run",
        "claude-code/post-events/output-replaced",
        "claude-code/post-events/two-tells",
        "claude-code/prompts/first-of-two-blocks",
        "claude-code/rewriting/seen-after-the-tool",
        "claude-code/settings/bad-guard-drops-the-guards",
        "claude-code/settings/user-and-project-add-up",
        "claude-code/stop-loop/block-goes-on",
        "claude-code/veto/deferred-call-ends-the-run",
        "claude-code/veto/deny-then-ask",
        # teaagent
        "teaagent/answers/disabled-veto",
        "teaagent/deny-safe/no-json",
        "teaagent/deny-safe/told-as-an-error",
        "teaagent/envelope/after-a-tool",
        "teaagent/envelope/before-a-tool",
        "teaagent/envelope/compaction",
        "teaagent/envelope/five-session-events",
        "teaagent/lifecycle/greeting-changes-the-context",
        "teaagent/lifecycle/start-raises",
        "teaagent/narrowing/deny-mode",
        "teaagent/narrowing/mode-deny-policy-allow",
        "teaagent/ordering/raising-tool",
        "teaagent/rewriting/post-hooks-see-the-change",
        "teaagent/rewriting/result-replaced",
        "teaagent/veto/hookerror-blocks",
    }
)


class Scenario(SingleFileSnapshotExtension):
    """A text file for each scenario, named after its test."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT

    def discover_snapshots(self, **where: object) -> SnapshotCollections:
        # a run of one dialect uses none of the others' files, and need not complain; a self-test finds stale ones
        return SnapshotCollections()


def test_scenario(hookproof_record: str, snapshot: SnapshotAssertion) -> None:
    """Settings, request, what the probes read and noted, answer and judgement are what they were."""
    kept = snapshot(extension_class=Scenario)
    if hookproof_record != kept:
        # without the colours: syrupy gives them to each letter by itself
        difference = re.sub("\x1b\\[[0-9;]*m", "", "\n".join(kept.get_assert_diff()))
        pytest.fail(f"the scenario is not what it was:\n{difference}", pytrace=False)
