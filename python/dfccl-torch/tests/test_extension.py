"""Where the extension can't be compiled, or kept."""

import inspect
import os
import subprocess
import sys

import dfccl_torch  # noqa: F401  puts functions in the place of torch's
import pytest
import torch.distributed as dist
from dfccl_torch.extension import build_extension
from torch.distributed import device_mesh

PROGRAM = """
from dfccl_torch.errors import DfcclError
from dfccl_torch.extension import build_extension
try:
    build_extension()
except DfcclError as error:
    print(error.code, error)
"""


@pytest.mark.parametrize(
    ("variables", "code", "remedy"),
    [
        ({"DFCCL_TORCH_CACHE": "{folder}/file/cache"}, "CACHE_NOT_WRITABLE", "Set DFCCL_TORCH_CACHE"),
        ({"DFCCL_TORCH_CACHE": "{folder}", "CXX": "no-such-compiler -O3"}, "NO_COMPILER", "there is no no-such-compiler -O3"),
        ({"DFCCL_TORCH_CACHE": "{folder}", "CXX": "env false"}, "COMPILATION_FAILED", "env ended with 1"),
    ],
)
def test_says_what_to_do(tmp_path, variables, code, remedy):
    (tmp_path / "file").write_text("")
    own = {name: value.format(folder=tmp_path) for name, value in variables.items()}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **own}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.startswith(code) and remedy in done.stdout, done.stdout + done.stderr


def test_what_stands_in_for_torchs_functions_is_what_meshes_call_and_names_no_group():
    assert device_mesh.split_group is dist.split_group
    assert inspect.signature(dist.monitored_barrier).parameters["group"].default is None


def test_a_process_without_groups_has_nothing_to_explain_and_compiles_nothing(tmp_path):
    program = "import dfccl_torch; print(repr(dfccl_torch.explain()))"
    environment = {**os.environ, "DFCCL_TORCH_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "''\n"
    assert not list(tmp_path.iterdir())


def test_asks_no_facet_of_the_locale():
    """Some builds of torch bring another libstdc++ along, in which facets have other numbers: a regular expression that
    was compiled in this one ended the process there, with the first error that a caller was to be told."""
    symbols = subprocess.run(["nm", "-C", build_extension()], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "dfccl_torch::describeOutstanding" in symbols
    facets = [line for line in symbols.splitlines() if "std::use_facet" in line or "regex_traits" in line]
    assert not facets
