"""Numbers as people read them, and foreign text that can't steer a terminal."""

from __future__ import annotations

from uploader.words import duration, printable, share, size


def test_words() -> None:
    assert [size(n) for n in (0, 999, 1000, 9949, 9960, 999_499, 999_600, 4_200_000)] == [
        "0 B", "999 B", "1.0 kB", "9.9 kB", "10 kB", "999 kB", "1.0 MB", "4.2 MB",
    ]  # fmt: skip
    assert [duration(s) for s in (0.04, 9.94, 41.6, 119.4, 200)] == ["0.0 s", "9.9 s", "42 s", "119 s", "3 min 20 s"]
    assert [share(part, 100_000) for part in (0, 1, 50_000, 99_999, 100_000)] == [
        "0 %",
        "0.1 %",
        "50 %",
        "99.9 %",
        "100 %",
    ]
    assert share(0, 0) == "-"
    assert printable("a\x1b[2J\n\u202eb\udce9ü") == "a\\x1b[2J\\n\\u202eb\\udce9ü"
