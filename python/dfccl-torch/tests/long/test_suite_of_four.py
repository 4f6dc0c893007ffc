"""PyTorch's own suite for backends, on four ranks."""

from test_pytorch_suite import run_suite


def test_what_passes_with_gloo_passes_on_four_ranks():
    run_suite("--ranks", "4", least=91)
