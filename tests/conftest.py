"""What every test starts with: shapes checked against signatures, one thread, repeatable draws, the shared data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

import shape_checks

# Before the first import of these packages: from here on a tensor of another shape than its signature says is an error.
shape_checks.install("loci.model", "loci.attention_lab")

import torch  # noqa: E402

torch.set_num_threads(1)

settings.register_profile("loci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "loci"))

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED_DATA = REPOSITORY.parent / "shared" / "data"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    shape_checks.forget()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the shared data folder is absent: expected {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def course_data() -> Path:
    folder = SHARED_DATA / "course"
    if not (folder / "wiki.txt").is_file():
        pytest.skip(f"the course's files are absent: expected wiki.txt and the birth_*.tsv files in {folder}")
    return folder


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)
