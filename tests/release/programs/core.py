"""The package alone: a prompt, and the commands that need no extra."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import cuecard

Path("agent.md").write_text(
    "---\nname: porter\ndescription: Helps guests.\n---\nYou help {{ guest }}.\n"
)
Path("tasks.json").write_text('{"guest": "Ann"}')


def command(*arguments: str, status: int = 0) -> str:
    """What the command prints."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "cuecard", *arguments], capture_output=True, text=True
    )
    assert done.returncode == status, (arguments, done)
    return done.stdout + done.stderr


version = importlib.metadata.version("cuecard")
assert version == cuecard.__version__
assert command("--version") == f"cuecard {version}\n"
assert command("render", "agent.md", "--var", "guest=Ann") == "You help Ann.\n"
assert '"You help Ann.\\n"' in command("render", "agent.md", "--var", "guest=Ann", "--json")
assert "guest" in command("vars", "agent.md")
assert "guest" in command("explain", "agent.md", "--var", "guest=Ann")
command("explain", "agent.md", "--var", "guest=Ann", "--html", "page.html")
assert "<script>" in Path("page.html").read_text()
assert command("check", "agent.md") == "Checked 1 file: all is well.\n"
assert "P202" in command("rule", "P202")
command("fmt", "--check", "agent.md")
assert version in command("doctor")
assert "porter" in command("agents", ".")
command("init", "helper")
for shell in ("bash", "fish", "zsh"):
    assert "cuecard" in command("completion", shell)

renderer = cuecard.PromptRenderer(zone="UTC")
assert renderer.render("{{ current_date }}").count("-") == 2
with cuecard.Isolation(workers=1) as isolation:
    assert isolation.render("{{ 6 * 7 }}") == "42"
