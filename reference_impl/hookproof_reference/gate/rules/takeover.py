"""Commands that reach beyond the project: other accounts, servers, and what stays when the session is over."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..context import Context
from ..finding import Found
from ..launch import launches
from ..pattern import pattern
from ..rule import rule
from .commands import _command, _run


@rule(
    id="command-stays",
    severity="error",
    title="The command changes what runs when the session is over",
    consequence="damage",
    remedy="Leave the account alone; what a session needs belongs into $CLAUDE_ENV_FILE or into the project.",
    source="seed 001, the gate it descends from",
    bad=(
        _command("echo 'alias ll=ls' >> ~/.bashrc"), _command("(crontab -l; echo '* * * * * x') | crontab -"),
        _command("cat .claude/key.pub >> ~/.ssh/authorized_keys"),
    ),
    good=(_command("grep -q alias ~/.bashrc && echo there"), _command("crontab -l"), _command("cat ~/.ssh/known_hosts")),
)  # fmt: skip
def check_stays(context: Context) -> Iterator[Found]:
    """Start-up files of shells, cron, and keys that let somebody in."""
    for launch in launches(context):
        if not launch.shell:
            continue
        for step in launch.steps:
            written = [target for operator, target in step.redirects if ">" in operator]
            written += step.arguments if step.name == "tee" else []
            kept = next((target for target in written if _KEPT.search(target)), None)
            cron = step.name == "crontab" and not {"-l", "-e"} & {*step.arguments}
            if kept is not None or cron:
                what = "the table of cron" if kept is None else kept
                yield context.at(launch.handler.key("command"), f"{what} is changed at every {launch.handler.event}")
                break


_KEPT = pattern(
    r"(?:~|\$\{?HOME\}?)/(?:\.(?:ba|z|k)?sh(?:rc|_profile|env)|\.profile|\.zprofile|\.ssh/authorized_keys|\.gitconfig)\Z|\A/etc/"
)


@rule(
    id="command-changes-servers",
    severity="error",
    title="The command changes what runs elsewhere, and nobody is asked",
    consequence="damage",
    remedy="Let a person or a pipeline do that; a hook runs at every such event.",
    source="seed 001, the gate it descends from",
    bad=(
        _command("terraform apply -auto-approve"), _command("git push origin --delete main"),
        _command("docker system prune -af --volumes"), _command("aws s3 rb s3://data --force"), _command("helm uninstall shop"),
    ),
    good=(
        _command("terraform plan"), _command("docker ps -a"), _command("git push origin main"), _command("aws s3 ls"),
        _command('grep -qE \\"terraform (apply|destroy)\\" && { echo no >&2; exit 2; } || exit 0', "PreToolUse"),
    ),
)  # fmt: skip
def check_servers(context: Context) -> Iterator[Found]:
    """What is applied or removed without a question."""
    for launch in launches(context):
        for step in _run(launch):
            words = step.arguments
            verb = next((word for word in words if not word.startswith("-")), "")
            what = None
            if step.name in ("terraform", "tofu") and verb in ("apply", "destroy") and any("auto-approve" in w for w in words):
                what = f"{step.name} {verb} without a question"
            elif step.name == "pulumi" and verb in ("up", "destroy") and {"-y", "--yes"} & {*words}:
                what = f"pulumi {verb} without a question"
            elif (
                step.name == "git" and verb == "push" and ({"--delete", "-d"} & {*words} or any(w.startswith(":") for w in words))
            ):
                what = "git push --delete removes a branch on the server"
            elif (
                step.name in ("docker", "podman")
                and "prune" in words
                and any(re.match(r"-\w*f|--force|--all|--volumes", w) for w in words)
            ):
                what = f"{step.name} prune removes images and volumes"
            elif step.name == "helm" and verb in ("uninstall", "delete"):
                what = f"helm {verb} takes down what runs"
            elif step.name in ("aws", "gcloud", "az") and any(w in ("delete", "rb", "terminate-instances", "rm") for w in words):
                what = f"{step.name} removes something"
            if what is not None:
                yield context.at(launch.handler.key("command"), what)
                break
