"""What differs between the versions of Claude Code stands here, side by side; all else is one engine.

Each line was observed on the program itself at both versions.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """One version's answers to the questions on which they differ."""

    number: str
    newer_events: tuple[str, ...]
    """The events that 2.1.178 does not have."""
    prompt_id: bool
    """Whether envelopes name the prompt."""
    name_lists: str
    """A matcher of only these characters is a list of names, else a regular expression."""
    separators: str
    """What stands between the names of such a list."""
    spares_file: bool
    """A bad entry for any event but PreToolUse takes only itself along, not the whole file."""
    events_must_be_lists: bool
    """PreToolUse with something that is no list takes the whole file along, not only itself."""
    largest_file: int | None
    """Bytes of a settings file that are still read."""
    deepest: int | None
    """Levels of JSON in a settings file below which everything is left out; None: with such a file it does not start."""
    exit_2_outlives_schema: bool
    """Exit code 2 blocks although the JSON beside it does not fit the schema."""
    on_failure: bool
    """Whether a handler can say that its own failure blocks."""
    reason: str
    """Whose reason is reported: a name in `merging.REASONS`; answers come in the order of completion."""
    rewrite: str
    """Whose rewrite is applied: a name in `merging.REWRITES`."""
    one_context: bool
    """Whether the contexts of one event come as one text, or each as its own."""
    patience: float | None
    """Seconds that output may stay open after a handler's end; None: until it is closed."""
    longest: float | None
    """Seconds; a longer limit overflows and is over at once."""
    names_the_denier: bool
    """Whether the model reads "PreToolUse:Bash hook error:" before a reason."""
    no_reason: str
    """What a deny without a reason says, by the tool's name."""
    print_mode_requests: bool
    """Whether PermissionRequest fires where there is nobody to ask."""
    plan_holds: bool
    """Whether plan mode holds against a hook that allows."""
    checks_types: bool
    """Whether a rewrite loses unknown keys, and texts become the numbers and booleans that they should be."""
    print_mode_messages: bool
    """Whether a systemMessage shows where there is no screen."""
    mcp_output_is_read_as_text: bool
    """Whether a number or an object in the place of an MCP tool's result fails the call."""
    names_server: bool
    """Whether envelopes about a tool of an MCP server name the server."""
    server_patience: float
    """Seconds from the session's start for which a handler waits for its server; the older one does not wait for a slow one."""
    whole_numbers: bool
    """Whether the cap on blocked stops may be written "1e1"."""
    terminal_digits_refused: bool
    """Whether a notification to the terminal may not begin with a digit, as other commands of that number do."""
    plugins_spare_events: bool
    """Whether a plugin with handlers for an event that there is not keeps its others."""
    names_plugins: bool
    """Whether a refusal says which plugin it comes from."""
    agents_need_trust: bool
    """Whether the handlers of a project's agents count in a trusted folder only."""
    expands_first: bool
    """Whether UserPromptExpansion comes before UserPromptSubmit."""
    stop_wording: str
    """How a Stop handler's stderr or reason is put to the model."""
    model: str
    """The model that prompt and agent handlers ask which name none: the session's own."""
    prompt_ends_turn: bool
    """Whether a prompt handler that says no before a tool ends the run, unless it says otherwise."""
    reminds_agents: bool
    """Whether an agent handler's model is reminded once of the tool by which it must give its verdict."""
    words_lose_quotes: bool
    """Whether the words of an envelope, where a prompt asks for one of them, lose their quotes outside of braces."""
    normal_urls: bool
    """Whether two ways to write one URL name one http handler: it is known by its normal form."""
    keeps_credentials: bool
    """Whether http handlers get no credentials of the program's own in their headers."""
    header_letters: str
    """The encoding in which headers of http handlers travel."""
    finds_a_folder: bool
    """Whether the first handler after its folder has gone is started, in the home folder."""
    spares_cloud_addresses: bool
    """Whether http handlers are not asked at an address of the link or of a cloud's services, written as a number."""


VERSIONS = {
    v.number: v
    for v in (
        Version(
            number="2.1.178",
            newer_events=(),
            prompt_id=False,
            name_lists=r"[A-Za-z0-9_|]+",
            separators="|",
            spares_file=False,
            events_must_be_lists=False,
            largest_file=None,
            deepest=None,
            exit_2_outlives_schema=False,
            on_failure=False,
            reason="last",
            rewrite="last-of-verdict",
            one_context=False,
            patience=None,
            longest=2_147_483.0,
            names_the_denier=False,
            no_reason="Hook PreToolUse:{tool} denied this tool",
            print_mode_requests=False,
            plan_holds=False,
            checks_types=False,
            print_mode_messages=False,
            mcp_output_is_read_as_text=True,
            names_server=False,
            server_patience=3.0,
            whole_numbers=False,
            terminal_digits_refused=False,
            plugins_spare_events=False,
            names_plugins=False,
            agents_need_trust=False,
            expands_first=True,
            stop_wording="Stop hook feedback:\n{detail}",
            model="claude-opus-4-8",
            prompt_ends_turn=False,
            reminds_agents=False,
            words_lose_quotes=False,
            normal_urls=True,
            keeps_credentials=False,
            header_letters="utf-8",
            finds_a_folder=False,
            spares_cloud_addresses=False,
        ),
        Version(
            number="2.1.332",
            newer_events=("DirectoryAdded", "PreModelSwitch", "PostModelSwitch", "PreSkillShellCommand"),
            prompt_id=True,
            name_lists=r"[A-Za-z0-9_|, -]+",
            separators="|,",
            spares_file=True,
            events_must_be_lists=True,
            largest_file=2 * 1024 * 1024,
            deepest=64,
            exit_2_outlives_schema=True,
            on_failure=True,
            reason="last-or-first-ask",
            rewrite="last",
            one_context=True,
            patience=0.5,
            longest=None,
            names_the_denier=True,
            no_reason="Blocked by hook",
            print_mode_requests=True,
            plan_holds=True,
            checks_types=True,
            print_mode_messages=True,
            mcp_output_is_read_as_text=False,
            names_server=True,
            server_patience=30.0,
            whole_numbers=True,
            terminal_digits_refused=True,
            plugins_spare_events=True,
            names_plugins=True,
            agents_need_trust=True,
            expands_first=False,
            stop_wording='Stop hook blocking error from command: "{command}": {detail}',
            model="claude-opus-5-5",
            prompt_ends_turn=True,
            reminds_agents=True,
            words_lose_quotes=True,
            normal_urls=False,
            keeps_credentials=True,
            header_letters="latin-1",
            finds_a_folder=True,
            spares_cloud_addresses=True,
        ),
    )
}
"""By number, oldest first."""
