"""`testing`: a test with the plugin's fixtures and a snapshot of a prompt, written and read."""

import subprocess
import sys
from pathlib import Path

Path("agent.md").write_text("---\nname: porter\ndescription: Helps.\n---\nYou help {{ guest }}.\n")
Path("test_porter.py").write_text("""\
import pytest

@pytest.mark.cuecard_agent("agent.md")
def test_prompt(render_prompt, prompt_snapshot):
    assert render_prompt("agent.md", guest="Ann") == prompt_snapshot
""")
for options in (["--snapshot-update"], []):
    done = subprocess.run(
        [sys.executable, "-I", "-m", "pytest", "-q", *options, "test_porter.py"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
(snapshot,) = (path for path in Path("__snapshots__").rglob("*") if path.is_file())
assert "You help Ann." in snapshot.read_text()
