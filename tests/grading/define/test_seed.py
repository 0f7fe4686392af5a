"""What a student's parameters are drawn from: secret, their own, the same each time."""

import stat

from grading.define.seed import Draw, course_secret, parameters, practice_seed, student_seed


def test_the_secret_is_made_once_and_for_its_owner_only(tmp_path):
    secret = course_secret(tmp_path / "course")
    assert course_secret(tmp_path / "course") == secret
    assert course_secret(tmp_path / "another") != secret
    mode = stat.S_IMODE((tmp_path / "course" / "secret").stat().st_mode)
    assert mode == 0o600


def test_parameters_differ_by_student_and_repeat_themselves(tiny):
    seeds = [student_seed(b"secret", tiny.name, f"student {n}") for n in range(50)]
    names = {parameters(tiny.make, seed).name for seed in seeds}
    assert len(names) == 50
    assert parameters(tiny.make, seeds[0]) == parameters(tiny.make, seeds[0])
    assert student_seed(b"other", tiny.name, "student 0") != seeds[0]
    assert Draw(practice_seed("lab90")).name("x") == Draw(practice_seed("lab90")).name("x")
