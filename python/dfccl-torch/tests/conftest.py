import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# Minutes each, and of packages that the others don't need.
if os.environ.get("DFCCL_TEST_TIER") != "long":
    collect_ignore = ["long"]


@pytest.fixture(scope="session", autouse=True)
def extension():
    """Compiled before ranks wait for each other."""
    import dfccl_torch.extension

    return dfccl_torch.extension.load_extension()
