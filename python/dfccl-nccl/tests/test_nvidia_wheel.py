"""dfccl's library in place of the file of NVIDIA's wheel, and back."""

import os

import pytest


@pytest.fixture
def target(site):
    return site / "nvidia" / "nccl" / "lib" / "libnccl.so.2"


def test_the_file_is_replaced_and_restored(command, site, target, library, others):
    done = command("replace", PYTHONPATH=site)
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == library.read_bytes()
    # PyTorch opens each file there that matches libnccl.so.*[0-9].
    assert [path.name for path in target.parent.glob("libnccl.so*")] == ["libnccl.so.2"]
    assert command("restore", PYTHONPATH=site).returncode == 0
    assert target.read_bytes() == others.read_bytes()
    assert os.listdir(target.parent) == ["libnccl.so.2"]


def test_to_replace_it_twice_keeps_nvidias(command, site, target, others):
    for _ in range(2):
        assert command("replace", PYTHONPATH=site).returncode == 0
    assert command("restore", PYTHONPATH=site).returncode == 0
    assert target.read_bytes() == others.read_bytes()


def test_after_an_update_of_the_wheel_the_new_one_is_kept(command, site, target, others):
    assert command("replace", PYTHONPATH=site).returncode == 0
    new = others.read_bytes() + b"new"
    target.unlink()
    target.write_bytes(new)
    assert command("replace", PYTHONPATH=site).returncode == 0
    assert command("restore", PYTHONPATH=site).returncode == 0
    assert target.read_bytes() == new


def test_a_file_that_several_environments_share_stays_what_it_is(command, site, target, others, tmp_path):
    elsewhere = tmp_path / "cache.so"
    os.link(target, elsewhere)
    assert command("replace", PYTHONPATH=site).returncode == 0
    assert elsewhere.read_bytes() == others.read_bytes()


def test_without_such_a_wheel_nothing_is_replaced(command, tmp_path):
    for name in ("replace", "restore"):
        done = command(name, PYTHONPATH=tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith("NO_NVIDIA_WHEEL: ")


def test_what_was_not_replaced_is_not_restored(command, site, target, others):
    done = command("restore", PYTHONPATH=site)
    assert done.returncode == 1
    assert done.stderr.startswith(f"NOT_REPLACED: {target} isn't dfccl's.")
    assert target.read_bytes() == others.read_bytes()


def test_without_what_was_kept_the_wheel_is_to_be_installed_again(command, site, target):
    assert command("replace", PYTHONPATH=site).returncode == 0
    (target.parent / "nvidia-libnccl.so.2.kept").unlink()
    done = command("restore", PYTHONPATH=site)
    assert done.returncode == 1
    assert "pip install --force-reinstall" in done.stderr


def test_a_folder_that_refuses_leaves_the_file_as_it_was(command, site, target, others):
    # In the place of what is to be kept: a folder can't be replaced, by root neither.
    (target.parent / "nvidia-libnccl.so.2.kept").mkdir()
    done = command("replace", PYTHONPATH=site)
    assert done.returncode == 1
    assert done.stderr.startswith(f"NOT_WRITABLE: {target} can't be replaced: ")
    assert target.read_bytes() == others.read_bytes()
    assert sorted(os.listdir(target.parent)) == ["libnccl.so.2", "nvidia-libnccl.so.2.kept"]
