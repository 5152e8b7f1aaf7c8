"""Skills: folders with a `SKILL.md`, found, checked, and listed for a prompt."""

from .catalog import skills_catalog
from .discovery import SkillFolders, discover_skills
from .folders import CLIENTS, skill_folders
from .reading import Reading, check_header
from .skill import Skill, skill_values

__all__ = [
    "CLIENTS",
    "Reading",
    "Skill",
    "SkillFolders",
    "check_header",
    "discover_skills",
    "skill_folders",
    "skill_values",
    "skills_catalog",
]
