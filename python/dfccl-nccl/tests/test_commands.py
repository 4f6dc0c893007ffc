"""What is typed, sense and nonsense."""

import pytest


def test_without_a_command_the_ways_are_told(command, library, site):
    done = command(PYTHONPATH=site)
    assert done.returncode == 0, done.stderr
    assert f"export LD_PRELOAD={library}\n" in done.stdout
    assert f"export LD_LIBRARY_PATH={library.parent}\n" in done.stdout
    assert str(site / "nvidia" / "nccl" / "lib" / "libnccl.so.2") in done.stdout


def test_the_path_alone_is_for_scripts(command, library):
    assert command("path").stdout == f"{library}\n"


@pytest.mark.parametrize("arguments", [["nonsense"], ["check", "--fast"], ["run"], ["run", "--"], ["run", "--fast", "true"], ["run", "--", ""]])
def test_nonsense_is_a_usage_error(command, arguments):
    done = command(*arguments)
    assert done.returncode == 2
    assert "usage: python -m dfccl_nccl" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [[], ["path"], ["run", "--", "true"], ["replace"]])
def test_without_a_library_each_command_says_what_was_tried(command, arguments, tmp_path, site):
    done = command(*arguments, DFCCL_NCCL_LIBRARY=tmp_path / "none.so", PYTHONPATH=site)
    assert done.returncode == 1
    assert done.stderr.startswith(f"LIBRARY_NOT_FOUND: There is no libnccl.so.2 of dfccl's at {tmp_path / 'none.so'}.")
    assert "--target dfccl_nccl" in done.stderr


def test_help_tells_of_each_command(command):
    said = command("--help").stdout
    for name in ("run", "check", "path", "replace", "restore"):
        assert f"\n    {name} " in said
    assert command("run", "--help").stdout.startswith("usage: python -m dfccl_nccl run")
