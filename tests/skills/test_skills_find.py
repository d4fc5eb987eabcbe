"""Where skills are found, which of them wins, which are offered, and how their files are read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from skills import Catalogue, Skill, Source, catalogue_text, find_skills, reader, user_folders
from tui.main import main


def put(folder: Path, name: str, description: str = "Does it.", extra: str = "") -> Path:
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    (target / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n{extra}---\nDo it.\n")
    return target


def own(found: Catalogue) -> dict[str, Skill]:
    return {s.name: s for s in found.skills if s.source is not Source.LIBRARY}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "user"


def test_the_library_is_there_and_without_fault(project: Path) -> None:
    found = find_skills(project)
    assert {"commit-message", "debug-failing-test", "write-a-test"} <= {s.name for s in found.offered}
    assert found.problems == () and all(s.messages == () for s in found.skills)


def test_project_before_user_before_library(project: Path, user: Path) -> None:
    put(project / ".claude/skills", "a", "project, last place")
    put(project / ".agent-tui/skills", "a", "project, first place")
    put(user, "a", "user")
    put(user, "write-a-test", "user's own")
    found = find_skills(project, [user], trusted=True)
    by_name = {s.name: s for s in found.skills}
    assert by_name["a"].description == "project, first place" and by_name["a"].source is Source.PROJECT
    assert by_name["write-a-test"].source is Source.USER
    assert len([p for p in found.problems if "is taken by" in p.message]) == 3
    assert [s.name for s in found.skills] == sorted(by_name)


def test_untrusted_skills_are_listed_and_neither_offered_nor_in_the_way(project: Path, user: Path) -> None:
    put(project / ".agents/skills", "a", "project")
    put(user, "a", "user")
    found = find_skills(project, [user])
    assert [(s.description, s.state) for s in found.skills if s.name == "a"] == [
        ("project", "needs trust"),
        ("user", "offered"),
    ]
    assert "project" not in catalogue_text(found.skills)
    assert b"user" in (reader(found.skills)("a/SKILL.md") or b"")


def test_a_folder_that_is_both_the_users_and_the_projects_is_the_users(tmp_path: Path) -> None:
    put(tmp_path / ".claude/skills", "a")
    found = find_skills(tmp_path, user_folders(tmp_path / "config", tmp_path))
    assert [s.state for s in found.skills if s.name == "a"] == ["offered"]


def test_links_load_once_and_broken_ones_are_reported(tmp_path: Path, project: Path, user: Path) -> None:
    real = put(tmp_path / "repo", "wrap-up")
    user.mkdir()
    (user / "wrap-up").symlink_to(real)
    (user / "again").symlink_to(real)
    (user / "gone").symlink_to(tmp_path / "nowhere")
    (real / "loop").symlink_to(user)
    other = put(user, "demo")
    (other / "demo").symlink_to(user)
    found = find_skills(project, [user])
    assert set(own(found)) == {"wrap-up", "demo"}
    assert [(p.path.name, p.message) for p in found.problems] == [("gone", "a link to something that is not there")]


def test_a_broken_skill_hides_no_other(project: Path, user: Path) -> None:
    put(user, "good")
    (user / "bad").mkdir()
    (user / "bad" / "SKILL.md").write_text("---\nname: [\n---\n")
    found = find_skills(project, [user])
    assert set(own(found)) == {"good"}
    assert [p.path.parent.name for p in found.problems] == ["bad"] and "line" in found.problems[0].message


def test_the_scan_is_bounded_and_says_so(project: Path, user: Path) -> None:
    for n in range(520):
        put(user, f"s{n:03}")
    deep = user / "/".join("abcdefgh")
    put(deep, "too-deep")
    found = find_skills(project, [user])
    assert len(own(found)) == 500
    assert any("more than 500 skills" in p.message for p in found.problems)
    assert any("folders deep" in p.message for p in found.problems)


def test_skills_in_a_skills_own_folder_are_not_offered(project: Path, user: Path) -> None:
    put(put(user, "outer"), "inner")
    assert set(own(find_skills(project, [user]))) == {"outer"}


def test_the_catalogue_is_compact_and_the_same_bytes(project: Path, user: Path) -> None:
    put(user, "b", "Second\n  line: of it.".replace("\n  line", " line"))
    put(user, "a")
    put(user, "c", extra="disable-model-invocation: true\n")
    skills = find_skills(project, [user]).skills
    text = catalogue_text(skills)
    assert text == catalogue_text(tuple(reversed(skills)))
    assert "- a: Does it.\n- b: Second line: of it.\n" in text and "- c:" not in text
    assert "skill:NAME/SKILL.md" in text
    assert catalogue_text(()) == ""


def test_a_crowded_catalogue_keeps_every_name(tmp_path: Path) -> None:
    def made(n: int) -> Skill:
        place = tmp_path / f"s{n:03}"
        return Skill(f"s{n:03}", "x" * 1000, place / "SKILL.md", place / "SKILL.md", place, Source.USER)

    text = catalogue_text([made(n) for n in range(150)])
    assert len(text) <= 12_000 and all(f"- s{n:03}: xxx" in text for n in range(150))


def test_reading_stays_in_the_skills_folder(tmp_path: Path, project: Path, user: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = put(user, "demo")
    (folder / "refs").mkdir()
    (folder / "refs" / "more.md").write_text("more")
    (folder / "link").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    read = reader(find_skills(project, [user]).skills)
    assert read("demo") == read("demo/SKILL.md") == (folder / "SKILL.md").read_bytes()
    assert read("demo/refs/more.md") == b"more" and read("demo/./refs//more.md") == b"more"
    assert read("demo/") == b"SKILL.md\nlink\npipe\nrefs\nup"
    for path in ("demo/link", "demo/up/secret", "demo/../../secret", "demo/pipe", "demo/none", "none/x", "", "demo/\0"):
        assert read(path) is None, path


def test_a_folder_swapped_for_a_link_after_the_scan_leads_nowhere(tmp_path: Path, project: Path) -> None:
    folder = put(project / ".agents/skills", "demo")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "id_rsa").write_text("secret")
    read = reader(find_skills(project, trusted=True).skills)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(outside)
    assert read("demo/id_rsa") is None and read("demo/SKILL.md") is None


def test_a_skill_md_that_is_a_link_is_offered_and_readable(tmp_path: Path, project: Path, user: Path) -> None:
    real = put(tmp_path / "repo", "shared")
    (user / "shared").mkdir(parents=True)
    (user / "shared" / "SKILL.md").symlink_to(real / "SKILL.md")
    found = find_skills(project, [user])
    assert reader(found.skills)("shared/SKILL.md") == (real / "SKILL.md").read_bytes()


def test_the_commands_list_and_show(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    put(project / ".claude/skills", "demo", "Says [bold and [/]")
    put(tmp_path / "home/config/skills", "mine")
    (tmp_path / "home/config/skills/bad").mkdir()
    (tmp_path / "home/config/skills/bad/SKILL.md").write_text("nothing")
    assert main(["skills", "list", "--cwd", str(project)]) == 0
    out = capsys.readouterr().out
    assert "[needs trust] Says [bold and [/]" in out and "mine" in out and "1 with problems" in out
    assert main(["skills", "list", "--json", "--cwd", str(project)]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {s["name"]: s["state"] for s in listed["skills"]}["demo"] == "needs trust"
    assert listed["problems"][0]["level"] == "broken"
    assert main(["skills", "show", "mine", "--cwd", str(project)]) == 0
    assert "Do it." in capsys.readouterr().out
    assert main(["skills", "show", "none", "--cwd", str(project)]) == 1
    assert "mine" in capsys.readouterr().err
