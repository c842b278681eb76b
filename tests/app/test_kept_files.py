"""Files of visitors: found again by who knows their name, and gone when their time is over."""

from __future__ import annotations

from rfm_explorer.page.kept_files import KeptFiles


def test_a_file_is_found_by_its_name_alone() -> None:
    files = KeptFiles()
    kept, other = files.add(b"1,2"), files.add(b"1,2")
    assert kept.name != other.name
    assert len(kept.name) >= 32
    assert files.find("") is None
    assert files.find(kept.name[:-1]) is None
    assert files.find(kept.name) is kept
    for _ in range(2):
        files.leave(kept, at_once=True)
    files.leave(other, at_once=True)
    assert not kept.path.parent.exists()
    assert not other.path.parent.exists()


def test_it_outlives_its_page_and_goes_with_the_last_one() -> None:
    files = KeptFiles()
    kept = files.add(b"1,2")
    files.leave(kept)  # its page is gone
    assert files.find(kept.name) is kept  # and comes back
    assert kept.path.read_bytes() == b"1,2"
    files.leave(kept, at_once=True)
    assert files.find(kept.name) is None


def test_its_time_is_over_only_if_nobody_came_back() -> None:
    files = KeptFiles(minutes=0)
    kept = files.add(b"1,2")
    files.leave(kept)
    assert kept._end is not None
    kept._end.join()
    assert files.find(kept.name) is None
    assert not kept.path.parent.exists()
