"""What a profile of Cargo leaves of the debug information."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.propose.cargo_profile import hint, profile, switched_on


@pytest.mark.parametrize(
    ("manifest", "name", "debug", "strip"),
    [
        ("", "release", False, False),
        ("[profile.release]\ndebug = 1\nstrip = true", "release", True, True),
        ('[profile.release]\ndebug = "full"\nstrip = "none"', "release", True, False),
        ('[profile.release]\ndebug = "none"\nstrip = false', "release", False, False),
        ('[profile.release]\nstrip = "debuginfo"', "release", False, True),
        ('[profile.release]\nstrip = true\n[profile.dist]\ninherits = "release"\ndebug = 2', "dist", True, True),
        ('[profile.dist]\ninherits = "dev"', "dist", True, False),
        ('[profile.a]\ninherits = "a"', "a", False, False),
        ("[profile]\nrelease = 3", "release", False, False),
        ("profile = 3", "release", False, False),
        ("[profile.release", "release", False, False),
    ],
)
def test_both_keys_are_read_through_what_a_profile_inherits(manifest: str, name: str, debug: bool, strip: bool) -> None:
    told = profile(manifest, name)
    assert (told.debug, told.strip) == (debug, strip)


def test_a_job_that_sets_both_keys_says_which_of_them_it_changes() -> None:
    assert switched_on("[profile.release]\ndebug = 1\nstrip = true").startswith("Cargo.toml's release profile strips")
    assert "by itself" in switched_on("")
    assert switched_on("[profile.release]\ndebug = 1") == ""


@given(st.text(), st.text())
def test_any_text_is_answered(manifest: str, name: str) -> None:
    hint(manifest, name)
