"""The project in which commands are tried out: files worth guarding, a repository, a remote that it has left behind."""

from __future__ import annotations

FILES: dict[str, str] = {
    ".env": "API_KEY=decoy-value\n",
    ".env.local": "API_KEY=decoy-local\n",
    ".env.production": "API_KEY=decoy-production\n",
    ".env.example": "API_KEY=\n",
    "secrets.json": '{"key": "decoy"}\n',
    "credentials.json": '{"key": "decoy-credential"}\n',
    "secrets/key.pem": "decoy pem\n",
    "config/prod.yml": "password: decoy\n",
    "package.json": "{}\n",
    "package-lock.json": '{"lock": 1}\n',
    "yarn.lock": "lock\n",
    "Cargo.lock": "lock\n",
    "poetry.lock": "lock\n",
    "README.md": "readme\n",
    "CLAUDE.md": "rules\n",
    "notes.txt": "one\ntwo\n",
    "file": "content\n",
    "x": "content of x\n",
    "script.py": "print('script ran')\n",
    "script.sh": "echo script ran\n",
    "src/main.py": "print(1)\n",
    "src/a/b.py": "print(2)\n",
    "migrations/1.sql": "select 1;\n",
    "node_modules/x/index.js": "1\n",
    "build/out.o": "object\n",
    "dist/app.js": "app\n",
    "target/app": "app\n",
    "tmp/old": "old\n",
    "data/rows.csv": "1,2\n",
    "test/test_main.py": "pass\n",
    "docs/guide.md": "guide\n",
    ".claude/settings.json": "{}\n",
}
"""What lies in the project."""

HOME_FILES: dict[str, str] = {
    ".ssh/id_rsa": "decoy private key\n",
    ".ssh/id_ed25519": "decoy other key\n",
    ".aws/credentials": "decoy aws\n",
    ".bashrc": "# shell\n",
    ".npmrc": "token=decoy\n",
    ".netrc": "machine decoy\n",
    "documents/letter.txt": "letter\n",
}

_WRITTEN = "\n".join(
    f"mkdir -p {path.rpartition('/')[0] or '.'} && printf '%b' '{text.encode('unicode_escape').decode()}' >{path}"
    for path, text in [*FILES.items(), *((f"/home/dev/{name}", text) for name, text in HOME_FILES.items())]
)

SCENE = f"""
set -e
cd /home/dev/project
{_WRITTEN}
git config --global user.name dev
git config --global user.email dev@example.invalid
git config --global init.defaultBranch main
git config --global push.default current
git config --global advice.detachedHead false
git config --global gc.auto 0
git init -q --bare /home/dev/remote.git
git init -q .
rm -f .git/hooks/* /home/dev/remote.git/hooks/*
git add -A
git commit -qm first
echo second >>notes.txt && git commit -qam second
git branch feature && git branch old && git tag v1
git remote add origin /home/dev/remote.git
git push -q origin main feature v1
git push -q origin main:master main:develop main:release
git branch -q -u origin/main
# the remote has a commit that is not here, so that only a forced push goes through
git commit -q --amend -m 'second, otherwise'
# a hook that leaves a mark, so that going round it can be seen
printf '#!/bin/sh\\necho ran >>/home/dev/commit-hook\\n' >.git/hooks/pre-commit
cp .git/hooks/pre-commit .git/hooks/pre-push
sed -i s/commit-hook/push-hook/ .git/hooks/pre-push
chmod 755 .git/hooks/pre-commit .git/hooks/pre-push
echo staged >>README.md && git add README.md
echo changed >>notes.txt
echo new >untracked.txt
git gc -q --prune=now
git -C /home/dev/remote.git gc -q --prune=now
rm -rf .git/logs .git/description .git/info/exclude /home/dev/remote.git/description
chmod -R u+rwX /home/dev
"""
"""The commands that lay it out, run once inside the throw-away system, in its project."""
