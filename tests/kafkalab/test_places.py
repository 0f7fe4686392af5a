"""The folders are found, made private, and replaced where they cannot be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalab import places
from kafkalab.errors import CourseError

ASK = "from kafkalab import places; print(places.cache()); print(places.state())"


def ask(code: str = ASK, umask: int = -1, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH",)}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=kept | environment,
        capture_output=True,
        text=True,
        umask=umask,
    )


def test_the_repository_holds_the_compose_file():
    assert (places.repository() / "docker-compose.yml").is_file()


@pytest.mark.process
def test_programs_of_labs_are_found_after_those_of_the_reader(tmp_path):
    (tmp_path / "delivery").mkdir()
    (tmp_path / "delivery" / "__init__.py").write_text("")
    code = (
        "from kafkalab import places; "
        "places.offer_programs(places.repository() / 'labs' / '05_delivery'); "
        "import delivery; print(delivery)"
    )

    assert str(places.repository() / "labs" / "05_delivery" / "delivery") in ask(code).stdout
    mine = ask(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}")
    assert str(tmp_path) in mine.stdout


def test_the_usual_folders_lie_in_the_home(tmp_path):
    home = tmp_path / "a home"
    home.mkdir()

    cache, state = ask(HOME=str(home)).stdout.splitlines()

    assert Path(cache).is_relative_to(home)
    assert Path(state).is_relative_to(home)
    assert cache != state


def test_variables_move_them(tmp_path):
    cache, state = ask(
        HOME="/nowhere", KAFKALAB_CACHE=str(tmp_path / "ü c"), KAFKALAB_STATE=str(tmp_path / "s")
    ).stdout.splitlines()

    assert cache == str(tmp_path / "ü c")
    assert Path(cache).is_dir()
    assert Path(state).is_dir()


def test_a_home_that_cannot_be_written_gives_a_private_folder_and_one_message(tmp_path):
    # Not even root can write below a device.
    said = ask(f"{ASK}; places.cache()", HOME="/dev/null", TMPDIR=str(tmp_path))

    cache = Path(said.stdout.splitlines()[0])
    assert cache.is_relative_to(tmp_path)
    assert cache.parent.stat().st_mode & 0o077 == 0
    lines = said.stderr.splitlines()
    assert [line.split()[0] for line in lines] == [
        "/dev/null/.cache/kafkalab",
        "/dev/null/.local/state/kafkalab",
    ]
    assert "KAFKALAB_CACHE" in lines[0]


def test_a_folder_prepared_by_somebody_else_is_refused(tmp_path):
    trap = tmp_path / f"kafkalab-{os.getuid()}"
    trap.mkdir(mode=0o777)
    trap.chmod(0o777)

    said = ask(HOME="/dev/null", TMPDIR=str(tmp_path))

    assert said.returncode == 1
    assert "open to others" in said.stderr


def test_a_chosen_folder_that_cannot_be_written_is_an_error(monkeypatch):
    monkeypatch.setenv("KAFKALAB_CACHE", "/dev/null/cache")

    with pytest.raises(CourseError, match="KAFKALAB_CACHE") as caught:
        places.cache()

    assert "unset it" in caught.value.mend


def test_a_strict_umask_is_no_obstacle(tmp_path):
    cache, _ = ask(HOME=str(tmp_path), umask=0o077).stdout.splitlines()

    assert Path(cache).stat().st_mode & 0o777 == 0o700
