"""Tokens in the input of MCP tools and in prompts that are not replaced by what they name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..context import Context, Handler
from ..document import Node
from ..finding import Found
from ..payloads import has_field, has_parameter
from ..rule import rule
from ..vocabulary import names_of


def _inputs(context: Context) -> Iterator[tuple[Handler, Node]]:
    for handler in context.handlers:
        given = handler.get("input")
        if handler.type == "mcp_tool" and given is not None:
            for node in given.walk():
                if node.text and ("$" in node.text or "{{" in node.text):
                    yield handler, node


def _mcp(value: str) -> str:
    handler = f'{{"type":"mcp_tool","server":"ledger","tool":"note","input":{{"x":"{value}"}},"timeout":9}}'
    return f'{{"hooks":{{"PostToolUse":[{{"matcher":"Edit","hooks":[{handler}]}}]}}}}'


@rule(
    id="token-camel-case",
    severity="warning",
    title="A token is written in camel case",
    consequence="value empty",
    remedy="Write ${tool_input.file_path}; the names are those of the payload.",
    source="seed 001 says camel case; observed on 2.1.178 and 2.1.332: only snake case is replaced by a value",
    bad=(_mcp("${toolInput.command}"), _mcp("at ${hookEventName}")),
    good=(_mcp("${tool_input.file_path}"), _mcp("${hook_event_name}")),
)
def _check_camel(context: Context) -> Iterator[Found]:
    for _, node in _inputs(context):
        match = re.search(r"\$\{((?:tool|hook|session|transcript|permission|agent|user)[A-Z]\w*)[^}]*\}", node.text or "")
        if match is not None:
            snake = re.sub(r"(?<=[a-z])([A-Z])", lambda m: "_" + m[1].lower(), match[1])
            documented = context.profile.compatibility == "documented-13" and context.profile.chosen
            yield context.at(
                node,
                f'"{match[0]}" is replaced by an empty text; the payload calls it {snake}',
                severity="info" if documented else None,
            )


def _tool(name: str) -> str:
    return _mcp("${cwd}").replace('"tool":"note"', f'"tool":"{name}"')


@rule(
    id="mcp-tool-whole-name",
    severity="error",
    title="The tool of an mcp_tool handler is given with its whole name",
    consequence="never runs",
    remedy='Name the server in "server" and the tool alone in "tool".',
    source="observed on 2.1.178 and 2.1.332: the name is sent to the server as it is, which has no such tool",
    bad=_tool("mcp__ledger__note"),
    good=_tool("note"),
)
def _check_whole_name(context: Context) -> Iterator[Found]:
    for handler in context.handlers:
        name = handler.text("tool")
        if handler.type == "mcp_tool" and name is not None and name.startswith("mcp__"):
            alone = name.rpartition("__")[2]
            yield context.at(handler.key("tool"), f'"{name}" is sent to the server as it is, and its tool is called "{alone}"')


@rule(
    id="token-unknown",
    severity="warning",
    title="A token has no value",
    consequence="value empty",
    remedy="Use fields of the payload, such as ${tool_name} or ${tool_input.command}.",
    source="observed on 2.1.178 and 2.1.332: variables of the environment are no tokens",
    bad=(
        _mcp("${HOME}/x"), _mcp("${CLAUDE_PROJECT_DIR}"), _mcp("$tool_name"), _mcp("{{tool_name}} ${cwd} $ARGUMENTS"),
        _mcp("${prompt}"), _mcp("${tool_input.path}"), _mcp("${tool_input.edits[0]}"),
    ),
    good=(_mcp("${cwd}/x"), _mcp("costs $5"), _mcp("${tool_input.file_path} ${tool_response.filePath} ${duration_ms}")),
)  # fmt: skip
def _check_token(context: Context) -> Iterator[Found]:
    for handler, node in _inputs(context):
        text = node.text or ""
        variable = re.search(r"\$\{([A-Z][A-Z0-9_]*)\}", text)
        bare = re.search(r"\$(?:tool_\w+|hook_event_name|session_id|cwd|ARGUMENTS)\b", text)
        if variable is not None:
            yield context.at(node, f'"{variable[0]}" is replaced by an empty text: variables of the environment are no tokens')
        elif (braces := re.search(r"\{\{[\w. ]+\}\}", text)) is not None:
            yield context.at(node, f'"{braces[0]}" stays as it is; a token is written ${{name}}', consequence="value ignored")
        elif bare is not None:
            yield context.at(
                node, f'"{bare[0]}" stays as it is; a token has braces: ${{{bare[0][1:]}}}', consequence="value ignored"
            )
        elif (index := re.search(r"\$\{([\w.]+)\[(\d+)\][^}]*\}", text)) is not None:
            yield context.at(
                node, f'"{index[0]}" stays as it is; an index is written ${{{index[1]}.{index[2]}}}', consequence="value ignored"
            )
        elif (missing := _missing(handler, text)) is not None:
            yield context.at(node, missing)


def _missing(handler: Handler, text: str) -> str | None:
    """What is wrong with the first token that names a value which this event, or its tools, do not have."""
    for match in re.finditer(r"\$\{([a-z]+(?:_[a-z]+)*)((?:\.\w+)*)\}", text):
        if not has_field(handler.event, match[1]):
            return f'"{match[0]}" is replaced by an empty text: the payload of {handler.event} has no {match[1]}'
        parameter = match[2].split(".")[1] if match[2] else ""
        if match[1] == "tool_input" and parameter and not has_parameter(names_of(handler.matcher or "*"), parameter):
            return f'"{match[0]}" is replaced by an empty text: the input of {handler.matcher} has no {parameter}'
    return None


@rule(
    id="prompt-placeholder",
    severity="warning",
    title="The placeholder of a prompt stays as it is written",
    consequence="value empty",
    remedy="Write $ARGUMENTS, without braces; left out, the input is appended.",
    source="observed on 2.1.178 and 2.1.332",
    bad=('{"hooks":{"PreToolUse":[{"matcher":"Edit",'
         '"hooks":[{"type":"prompt","prompt":"Does ${ARGUMENTS} fit?","timeout":9}]}]}}',
         '{"hooks":{"PreToolUse":[{"matcher":"Edit","hooks":[{"type":"agent","prompt":"Look at $TOOL_INPUT","timeout":9}]}]}}'),
    good='{"hooks":{"PreToolUse":[{"matcher":"Edit","hooks":[{"type":"prompt","prompt":"Does $ARGUMENTS fit?","timeout":9}]}]}}',
)  # fmt: skip
def _check_prompt(context: Context) -> Iterator[Found]:
    for handler in context.handlers:
        prompt = handler.get("prompt")
        if handler.type in ("prompt", "agent") and prompt is not None and prompt.text:
            match = re.search(
                r"\$\{ARGUMENTS[^}]*\}|\{\{?ARGUMENTS\}?\}|\$\{?(?:TOOL_INPUT|TOOL_NAME|INPUT|tool_input)\b[^\s}]*\}?",
                prompt.text,
            )
            if match is not None:
                yield context.at(prompt, f'"{match[0]}" stays as it is in a prompt; only $ARGUMENTS is replaced by the input')
