"""Skills: folders of instructions that the model reads when a task fits them."""

from skills.catalogue import catalogue_text
from skills.find import find_skills, load, user_folders
from skills.model import Catalogue, Problem, Skill, Source
from skills.read import reader
from skills.validate import Verdict, validate

__all__ = [
    "Catalogue",
    "Problem",
    "Skill",
    "Source",
    "Verdict",
    "catalogue_text",
    "find_skills",
    "load",
    "reader",
    "user_folders",
    "validate",
]
