"""Settings: flag > environment > symup.toml of the project > the user's config file."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import platformdirs
import pytest

from uploader.config.files import MAX_FILE_SIZE_BYTES, MAX_LINE_SIZE_BYTES, USER_FILE, user_config_file
from uploader.config.load import load
from uploader.config.settings import PathGate, Settings
from uploader.errors import UsageError
from uploader.model import Quality


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with folders in it."""
    folder = tmp_path / "project"
    (folder / "deep" / "down").mkdir(parents=True)
    (folder / ".git").mkdir()
    return folder


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text("")
    return path


def test_each_layer_beats_the_one_below(project: Path, user_file: Path) -> None:
    user_file.write_text('project = "user"\njobs = 1\nrequire = "functions"\nto = "https://user"\n')
    (project / "symup.toml").write_text('project = "file"\njobs = 2\nrequire = "lines"\n')
    environ = {"SYMUP_PROJECT": "environment", "SYMUP_JOBS": "3"}
    chosen = load({"project": "flag"}, environ=environ, folder=project, user_file=user_file)
    assert chosen == Settings(project="flag", jobs=3, require=Quality.LINES, to="https://user")


def test_a_flag_that_was_not_given_hides_nothing(project: Path, user_file: Path) -> None:
    (project / "symup.toml").write_text('include = ["a*"]\ndwarf = false\n')
    empty: tuple[dict[str, object], ...] = (
        {"include": []},
        {"include": ()},
        {"include": None, "to": None, "dwarf": None},
    )
    for flags in empty:
        chosen = load(flags, environ={}, folder=project, user_file=user_file)
        assert chosen.include == ("a*",)
        assert chosen.dwarf is False


def test_the_nearest_project_file_upwards_counts(project: Path, user_file: Path) -> None:
    (project / "symup.toml").write_text('project = "top"\n')
    assert load({}, environ={}, folder=project / "deep" / "down", user_file=user_file).project == "top"
    (project / "deep" / "symup.toml").write_text('project = "near"\n')
    assert load({}, environ={}, folder=project / "deep" / "down", user_file=user_file).project == "near"


def test_a_relative_destination_in_a_file_is_relative_to_the_file(project: Path, user_file: Path) -> None:
    (project / "symup.toml").write_text('to = "symbols"\n')
    chosen = load({}, environ={}, folder=project / "deep", user_file=user_file)
    assert chosen.to == str(project / "symbols")
    assert chosen.unconfirmed == {}


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('to = "https://symbols.example.com"', "to"),
        ('to = "../symbols"', "to"),
        ('to = "/srv/symbols"', "to"),
        ('to = "~/symbols"', "to"),
        ('to = "file:///srv/symbols"', "to"),
        ('to = "x:/../../../symbols"', "to"),
        ('to = "s3://bucket/prefix"', "to"),
        ('debug_dir = ["symbols", "../elsewhere"]', "debug_dir"),
        ('debug_dir = ["file:///srv"]\nto = "link/symbols"', "to"),
    ],
)
def test_what_only_the_checkouts_file_names_beyond_the_checkout_is_unconfirmed(
    project: Path, user_file: Path, line: str, key: str
) -> None:
    path = project / "symup.toml"
    path.write_text(line)
    (project / "link").symlink_to("/srv")
    assert load({}, environ={}, folder=project, user_file=user_file).unconfirmed == {key: path}

    variable = {f"SYMUP_{key.upper()}": "/srv/else"}
    assert load({}, environ=variable, folder=project, user_file=user_file).unconfirmed == {}
    assert load({key: ["/else"] if key == "debug_dir" else "/else"}, environ={}, folder=project).unconfirmed == {}


@pytest.mark.parametrize(
    ("own", "line"),
    [
        ('trusted = ["https://symbols.example.com"]', 'to = "https://symbols.example.com/base/"'),
        ('to = "https://symbols.example.com/base/"', 'to = "https://symbols.example.com/base"'),
        ('trusted = ["/srv"]', 'to = "/srv/symbols"'),
        ('trusted = ["nothing", "file:///srv/symbols"]', 'debug_dir = "/srv/symbols/one"'),
        ('trusted = ["s3://bucket"]', 'to = "s3://bucket"'),
    ],
)
def test_the_users_own_file_confirms_what_a_checkout_names(project: Path, user_file: Path, own: str, line: str) -> None:
    (project / "symup.toml").write_text(line)
    assert load({}, environ={}, folder=project, user_file=user_file).unconfirmed
    user_file.write_text(own)
    assert load({}, environ={}, folder=project, user_file=user_file).unconfirmed == {}


def test_what_the_users_own_file_names_needs_no_confirmation(project: Path, user_file: Path) -> None:
    user_file.write_text('to = "https://symbols.example.com"\ndebug_dir = ["/usr/lib/debug"]\n')
    chosen = load({}, environ={}, folder=project, user_file=user_file)
    assert (chosen.to, chosen.unconfirmed) == ("https://symbols.example.com", {})


def test_a_checkout_can_not_vouch_for_itself(project: Path, user_file: Path) -> None:
    (project / "symup.toml").write_text('to = "/srv"\ntrusted = ["/srv"]\n')
    with pytest.raises(UsageError, match="vouch"):
        load({}, environ={}, folder=project, user_file=user_file)


@pytest.mark.parametrize("entry", ["3", "''", "'https://user:s3cr3t@host'", "'symbols.example.com'"])
def test_a_bad_entry_among_the_trusted_names_the_file(project: Path, user_file: Path, entry: str) -> None:
    user_file.write_text(f"trusted = [{entry}]\n")
    with pytest.raises(UsageError) as caught:
        load({}, environ={}, folder=project, user_file=user_file)
    assert str(user_file) in caught.value.message
    assert "s3cr3t" not in caught.value.message


@pytest.mark.parametrize("dest", ["symbols.example.com", "symbols:8753", "symbols.example.com/base"])
def test_what_may_be_a_server_or_a_folder_is_no_destination_until_it_says_which(
    project: Path, user_file: Path, dest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "deep")
    (project / "symup.toml").write_text(f"to = '{dest}'")
    with pytest.raises(UsageError, match=f"https://{dest} .*\\./{dest} "):
        load({}, environ={}, folder=project, user_file=user_file)
    for environ, flags in (({"SYMUP_TO": dest}, {}), ({}, {"to": dest})):
        with pytest.raises(UsageError, match=f"https://{dest} .*\\./{dest} "):
            load(flags, environ=environ, files=False)
    (project / dest).mkdir(parents=True)
    assert load({}, environ={}, folder=project, user_file=user_file).to == str(project / dest)
    (project / "deep" / dest).mkdir(parents=True)
    assert load({"to": dest}, environ={}, files=False).to == dest


@pytest.mark.skipif(sys.platform != "linux", reason="platformdirs decides elsewhere")
def test_without_a_home_there_is_no_users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    planted = tmp_path / "~" / ".config" / "symup" / USER_FILE
    planted.parent.mkdir(parents=True)
    planted.touch()
    monkeypatch.chdir(tmp_path)
    assert user_config_file() is None


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('colour = "red"', "colour"),
        ('token = "secret-value"', "token"),
        ("jobs = 0", "jobs"),
        ("jobs = true", "jobs"),
        ("jobs = 1.5", "jobs"),
        ('include = "a\\u0000b"', "include"),
        ("include = [1]", "include"),
        ('require = "none"', "require"),
        ('project = "a/b"', "project"),
        ('dwarf = "maybe"', "dwarf"),
        ("to = 3", "to"),
        ("gsym_version = 3", "gsym_version"),
        ("gsym_version = 2.0", "gsym_version"),
        ("gsym_version = true", "gsym_version"),
        ("keep_aliases = 2", "keep_aliases"),
        ("min_line_coverage = 101", "min_line_coverage"),
        ("min_line_coverage = 100.5", "min_line_coverage"),
        ("min_line_coverage = -0.5", "min_line_coverage"),
        ("[[gate]]\npaths = ['a']\nmin_line_coverage = 100.5", "from 0 to 100"),
        ("min_line_coverage = true", "min_line_coverage"),
        ("min_line_coverage = nan", "min_line_coverage"),
        ('fail_on = "sometimes"', "fail_on"),
        ("fail_on = [1]", "fail_on"),
        ("gate = 3", "gate"),
        ("[[gate]]\nrequire = 'lines'", "gate"),
        ("[[gate]]\npaths = ['a']", "gate"),
        ("[[gate]]\npaths = ['a']\nrequire = 'best'", "gate"),
        ("[[gate]]\npaths = ['a']\nrequire = 'lines'\ncolour = 1", "gate"),
    ],
)
def test_a_bad_entry_names_the_file_and_the_key(project: Path, user_file: Path, text: str, key: str) -> None:
    path = project / "symup.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load({}, environ={}, folder=project, user_file=user_file)
    assert str(path) in caught.value.message
    assert key in caught.value.message
    assert "secret-value" not in caught.value.message
    assert ("SYMUP_TOKEN" in (caught.value.remedy or "")) is (key == "token")


@pytest.mark.parametrize("text", [b"to = ", b"\xff\xfe", b"a = " + b"[" * 4000, b"a = [\n" * 8000])
def test_what_is_not_toml_names_the_file(project: Path, user_file: Path, text: bytes) -> None:
    (project / "symup.toml").write_bytes(text)
    with pytest.raises(UsageError, match=r"symup\.toml"):
        load({}, environ={}, folder=project, user_file=user_file)


def test_a_file_that_is_too_large_is_not_read(project: Path, user_file: Path) -> None:
    path = project / "symup.toml"
    path.write_bytes(b"#\n" * (MAX_FILE_SIZE_BYTES // 2))
    load({}, environ={}, folder=project, user_file=user_file)
    path.write_bytes(b"#" * (MAX_FILE_SIZE_BYTES + 1))
    with pytest.raises(UsageError, match=r"symup\.toml is over"):
        load({}, environ={}, folder=project, user_file=user_file)


def test_no_line_is_long_enough_to_stop_a_run(project: Path, user_file: Path) -> None:
    path = project / "symup.toml"
    path.write_text("jobs = 1\n[" + ".".join("a" * 30_000) + "]\n")
    with pytest.raises(UsageError, match=r"symup\.toml: line 2 is over 4096 bytes"):
        load({}, environ={}, folder=project, user_file=user_file)
    header = "[" + ".".join("a" * (MAX_LINE_SIZE_BYTES // 2 - 1)) + "]\n"
    path.write_text(header.join("\n" * (MAX_FILE_SIZE_BYTES // len(header) - 1)))
    started = time.process_time()
    with pytest.raises(UsageError, match=r"symup\.toml"):
        load({}, environ={}, folder=project, user_file=user_file)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("key", ["jobs", "min_line_coverage", "gsym_version"])
@pytest.mark.parametrize("number", ["1" * 4000, "1" * 5000, "0x" + "f" * 4000, "1e5000"])
def test_a_number_of_any_length_is_a_usage_error(project: Path, user_file: Path, key: str, number: str) -> None:
    (project / "symup.toml").write_text(f"{key} = {number}")
    with pytest.raises(UsageError, match=r"symup\.toml"):
        load({}, environ={}, folder=project, user_file=user_file)


def test_a_checkout_lowers_what_a_run_takes_of_the_machine_and_never_raises_it(project: Path, user_file: Path) -> None:
    def chosen(**environ: str) -> Settings:
        return load({}, environ=environ, folder=project, user_file=user_file)

    (project / "symup.toml").write_text("jobs = 512\nmax_memory = '1024T'\n")
    assert chosen().jobs == Settings().jobs
    assert chosen().only_lowers_memory
    asked = chosen(SYMUP_JOBS="511", SYMUP_MAX_MEMORY="512T")
    assert (asked.jobs, asked.max_memory, asked.only_lowers_memory) == (511, 512 << 40, False)
    user_file.write_text("jobs = 300\nmax_memory = '2G'\n")
    assert (chosen().jobs, chosen().max_memory, chosen().only_lowers_memory) == (300, 2 << 30, False)
    (project / "symup.toml").write_text("jobs = 1\nmax_memory = '1G'\n")
    assert (chosen().jobs, chosen().max_memory) == (1, 1 << 30)


def test_a_bad_variable_is_named(project: Path, user_file: Path) -> None:
    with pytest.raises(UsageError, match="SYMUP_JOBS"):
        load({}, environ={"SYMUP_JOBS": "many"}, folder=project, user_file=user_file)


def test_globs_in_the_environment_are_parted_by_commas(project: Path, user_file: Path) -> None:
    chosen = load({}, environ={"SYMUP_EXCLUDE": "*.o, tests/**"}, folder=project, user_file=user_file)
    assert chosen.exclude == ("*.o", "tests/**")


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        (["missing-debug"], {"failed", "conflict", "missing-debug"}),
        (["warnings,declined", "missing-debug"], {"failed", "conflict", "warnings", "declined", "missing-debug"}),
        (["none"], set()),
        (["none,conflict"], {"conflict"}),
        ([" None , Failed "], {"failed"}),
        ([""], {"failed", "conflict"}),
    ],
)
def test_kinds_add_to_what_fails_by_itself_and_none_takes_that_out(given: list[str], kinds: set[str]) -> None:
    assert load({"fail_on": given}, environ={}, files=False).fail_on == kinds


def test_gates_are_read_in_order_and_know_their_files_folder(project: Path, user_file: Path) -> None:
    (project / "symup.toml").write_text(
        "min_line_coverage = 90\n[[gate]]\npaths = ['a/**', 'b']\nrequire = 'none'\n[[gate]]\npaths = 'c'\nmin_line_coverage = 5\n"
    )
    chosen = load({}, environ={"SYMUP_GATE": "ignored"}, folder=project, user_file=user_file)
    assert chosen.min_line_coverage == 90
    assert chosen.gate == (
        PathGate(paths=("a/**", "b"), require=Quality.NONE, root=str(project)),
        PathGate(paths=("c",), min_line_coverage=5, root=str(project)),
    )


def test_without_files_only_flags_and_environment_count(project: Path, user_file: Path) -> None:
    (project / "symup.toml").write_text("require = 'full'\nproject = 'file'\n")
    chosen = load({}, environ={"SYMUP_PROJECT": "env"}, folder=project, user_file=user_file, files=False)
    assert (chosen.require, chosen.project) == (None, "env")


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("64M", 64 << 20),
        ("2G", 2 << 30),
        ("1.5g", 3 << 29),
        (" 800 MB ", 800 << 20),
        ("1GiB", 1 << 30),
        ("1T", 1 << 40),
    ],
)
def test_a_size_of_memory_is_a_number_and_a_unit(text: str, size_bytes: int) -> None:
    assert load({"max_memory": text}, environ={}, files=False).max_memory == size_bytes
    assert load({}, environ={"SYMUP_MAX_MEMORY": text}, files=False).max_memory == size_bytes


@pytest.mark.parametrize("text", ["2", "G", "-1G", "1K", "2 apples", "1e9", "99999T", "1.2345G", "\u0661G"])
def test_what_is_no_size_of_memory_is_a_usage_error_that_names_the_flag(text: str) -> None:
    with pytest.raises(UsageError, match="--max-memory"):
        load({"max_memory": text}, environ={}, files=False)


@pytest.mark.parametrize("folder", [None, "", "  ", "/elsewhere/config", "relative"])
def test_the_users_file_lies_where_platformdirs_would_put_it(
    folder: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if folder is None:
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CONFIG_HOME", folder.replace("/elsewhere", str(tmp_path)))
    monkeypatch.chdir(tmp_path)
    expected = Path(platformdirs.user_config_dir("symup")) / USER_FILE
    expected.parent.mkdir(parents=True, exist_ok=True)
    expected.touch()
    assert user_config_file() == expected
