"""What ``check`` finds. The library in the package under test has simulated devices."""

import json

import pytest


@pytest.fixture
def findings(command):
    """What is found with these variables: of each thing its state and what is said of it."""

    def check(**variables):
        done = command("check", "--json", **variables)
        found = json.loads(done.stdout)
        assert done.returncode == (1 if any(one["state"] == "failed" for one in found) else 0)
        # Whatever is not well comes with a way out.
        assert all(one["remedy"] for one in found if one["state"] != "ok")
        return {one["what"]: (one["state"], one["detail"]) for one in found}

    return check


def torch_of(site, library, *replaced):
    (site / "torch" / "lib").mkdir(parents=True)
    (site / "torch" / "__init__.py").write_text("raise RuntimeError('not to be imported')\n")
    (site / "torch" / "lib" / "libtorch_cuda.so").write_bytes(library.read_bytes().replace(*replaced))


def test_all_is_well_where_it_works(command, findings, library):
    assert findings() == {
        "library": ("ok", str(library)),
        "loader": ("ok", "a program started by run gets it, and is told NCCL 2.30.7"),
        "GPU": ("ok", "a communicator of one rank was made"),
    }
    assert [line.split()[:2] for line in command("check").stdout.splitlines()] == [["ok", "library"], ["ok", "loader"], ["ok", "GPU"]]


def test_without_a_gpu_the_library_says_so(findings):
    state, detail = findings(SIMULATED_DEVICES=0)["GPU"]
    assert state == "missing"
    assert detail.startswith("ncclCommInitAll: ")


def test_without_a_library_nothing_else_is_looked_at(findings, tmp_path):
    assert list(findings(DFCCL_NCCL_LIBRARY=tmp_path / "none.so")) == ["library"]


def test_a_path_that_cannot_be_preloaded_is_told(findings, library, tmp_path):
    path = tmp_path / "with space" / "libnccl.so.2"
    path.parent.mkdir()
    path.write_bytes(library.read_bytes())
    state, detail = findings(DFCCL_NCCL_LIBRARY=path)["loader"]
    assert state == "failed"
    assert "has a space or a colon" in detail


def test_the_wheels_file_is_told_apart(findings, command, site, library):
    target = site / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    assert findings(PYTHONPATH=site)["wheel"] == ("ok", f"{target} is NVIDIA's, which programs get that are not started by run")
    assert command("replace", PYTHONPATH=site).returncode == 0
    assert findings(PYTHONPATH=site)["wheel"] == ("ok", f"{target} is this library")
    target.write_bytes(library.read_bytes() + b"older")
    assert findings(PYTHONPATH=site)["wheel"] == ("failed", f"{target} is another version of dfccl's")


def test_a_torch_that_calls_nccl_in_a_library_is_told_from_others(findings, site, library):
    torch_of(site, library, b"libgcc_s.so.1\0", b"libnccl.so.2\0\0")
    state, detail = findings(PYTHONPATH=site)["torch"]
    assert state == "ok" and detail.endswith("is linked with libnccl.so.2")


def test_a_torch_with_nccl_inside_cannot_be_served(findings, site, library):
    torch_of(site, library, b"", b"")
    state, detail = findings(PYTHONPATH=site)["torch"]
    assert state == "failed" and "has NCCL inside it" in detail


def test_a_torch_without_cuda_does_not_call_nccl(findings, site, library):
    torch_of(site, library, b"", b"")
    (site / "torch" / "lib" / "libtorch_cuda.so").unlink()
    state, detail = findings(PYTHONPATH=site)["torch"]
    assert state == "missing" and "without CUDA" in detail
