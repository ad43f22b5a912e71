"""Which job of a repository's CI builds what ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from uploader.propose.workflows import MAX_READ_BYTES, BuildJob, Found, find


def found(folder: Path, **workflows: str) -> Found:
    (folder / ".github" / "workflows").mkdir(parents=True, exist_ok=True)
    for name, text in workflows.items():
        (folder / ".github" / "workflows" / f"{name}.yml").write_text(text)
    return find(folder)


def job(name: str, run: str, *, more: str = "", on: str = "push", system: str = "ubuntu-latest") -> str:
    return f"""\
on: {on}
jobs:
  {name}:
    runs-on: {system}
    steps:
      - run: {run}
{more}"""


def best(told: Found) -> BuildJob:
    return told.jobs[0]


UPLOAD = "      - uses: actions/upload-artifact@v4\n"


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        (job("test", "make"), job("package", "make")),
        (job("build", "make"), job("build", "make", more=UPLOAD)),
        (job("build", "make", on="pull_request"), job("build", "make")),
        (job("build", "make"), job("build", "make", on="{release: {types: [published]}}")),
        (job("build", "make"), job("build", "make", on="{push: {tags: ['v*']}}")),
        (job("build", "cargo build"), job("build", "cargo build --release")),
        (job("build", "docker build ."), job("build", "make")),
    ],
)
def test_the_likelier_one_comes_first(tmp_path: Path, worse: str, better: str) -> None:
    assert best(found(tmp_path, a=worse, b=better)).file.endswith("b.yml")
    assert best(found(tmp_path, a=better, b=worse)).file.endswith("a.yml")


def test_jobs_of_other_systems_are_left_out_and_a_matrix_with_them_is_told(tmp_path: Path) -> None:
    assert found(tmp_path, a=job("build", "make", system="windows-latest")).jobs == ()
    matrix = job("build", "make", system="${{ matrix.os }}").replace(
        "    steps", "    strategy: {matrix: {include: [{os: ubuntu-latest}, {os: macos-latest}]}}\n    steps"
    )
    assert best(found(tmp_path, a=matrix)).many_systems
    assert not best(found(tmp_path, a=job("build", "make"))).many_systems


def test_the_folder_of_a_step_or_of_a_job_is_that_of_its_binaries(tmp_path: Path) -> None:
    step = job("build", "cargo build --release\n        working-directory: tools/one")
    assert best(found(tmp_path, a=step)).paths == ("tools/one/target/release",)
    whole = job("build", "cargo build --release").replace(
        "    steps", "    defaults: {run: {working-directory: ./two/}}\n    steps"
    )
    assert best(found(tmp_path, a=whole)).paths == ("two/target/release",)


def test_a_path_ends_before_a_variable_of_the_shell_but_not_before_an_expression(tmp_path: Path) -> None:
    assert best(found(tmp_path, a=job("b", 'cargo build -r --target "$t"'))).paths == ("target",)
    kept = job("b", "cargo build -r --target ${{ matrix.t }}")
    assert best(found(tmp_path, a=kept)).paths == ("target/${{ matrix.t }}/release",)


def test_the_place_is_behind_the_whole_step(tmp_path: Path) -> None:
    text = job("build", "|\n          make\n\n          make all\n        env:\n          A: b", more="\n" + UPLOAD)
    told = best(found(tmp_path, a=text))
    lines = text.splitlines()
    assert lines[told.line - 1].strip() == "A: b"
    assert (lines[told.line], told.indent) == ("", 6)


def steps_of(*runs: str) -> str:
    steps = "".join(f"      - {run}\n" if ":" in run.split()[0] else f"      - run: {run}\n" for run in runs)
    return f"on: push\njobs:\n  b:\n    runs-on: ubuntu-latest\n    steps:\n{steps}      - run: ./deploy\n"


@pytest.mark.parametrize(
    ("configure", "build", "path"),
    [
        ("cmake -B out -DCMAKE_BUILD_TYPE=Release", "cmake --build out", "out"),
        ("cmake -B build -G Ninja -DCMAKE_BUILD_TYPE=Release", "ninja -C build", "build"),
        ("meson setup bd --buildtype=release", "meson compile -C bd", "bd"),
        ("meson setup bd --buildtype=release", "ninja\n        working-directory: bd", "bd"),
        ("cmake -B build -DCMAKE_BUILD_TYPE=Release", "cd build && make", "build"),
    ],
)
def test_the_place_is_behind_what_builds_and_not_behind_what_configures(
    tmp_path: Path, configure: str, build: str, path: str
) -> None:
    text = steps_of(configure, build)
    told = best(found(tmp_path, a=text))
    assert text.splitlines()[told.line].strip() == "- run: ./deploy"
    assert told.paths == (path,)
    assert told.built.ships
    assert told.built.hint


def test_where_nothing_known_builds_what_configures_tells_the_place(tmp_path: Path) -> None:
    told = best(found(tmp_path, a=steps_of("cmake -B out")))
    assert told.paths == ("out",)


def test_all_that_a_job_builds_is_named_and_the_place_is_behind_the_last(tmp_path: Path) -> None:
    text = steps_of("cmake -S . -B build && cd build && make", "cargo build", "strip target/debug/x")
    told = best(found(tmp_path, a=text))
    assert told.paths == ("build", "target/debug")
    assert told.built.name == "Make and Cargo"
    assert text.splitlines()[told.line].strip() == "- run: strip target/debug/x"
    assert not told.may_miss


def test_what_strips_before_the_last_build_is_told(tmp_path: Path) -> None:
    told = best(found(tmp_path, a=steps_of("make -C a", "strip a/x", "make -C b")))
    assert "A step before the new one strips" in told.built.hint
    assert "strips" not in best(found(tmp_path, a=steps_of("make -C a", "make -C b", "strip a/x"))).built.hint


def test_paths_of_steps_that_may_not_run_may_be_missing_and_steps_of_other_systems_count_for_nothing(
    tmp_path: Path,
) -> None:
    crossed = steps_of("cargo build -r\n        if: ${{ !matrix.arm }}", "cross build -r --target arm")
    assert best(found(tmp_path, a=crossed)).may_miss
    in_script = steps_of("|\n          if x; then\n            make -C a\n          fi\n          make -C b")
    assert best(found(tmp_path, a=in_script)).may_miss
    elsewhere = steps_of("make -C a", "make -C b\n        if: runner.os == 'Windows'")
    assert best(found(tmp_path, a=elsewhere)).paths == ("a",)


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        ("[profile.release]\ndebug = 1\nstrip = true\n", "information (debug = 1), and strips it (strip = true)"),
        ('[profile.release]\nstrip = "symbols"\n', 'no debug information, and strips besides (strip = "symbols")'),
        ("[profile.release]\ndebug = 0\n", "no debug information (debug = 0)"),
        ("", "no debug information by itself"),
    ],
)
def test_which_key_of_cargos_profile_takes_the_symbols_away_is_told(tmp_path: Path, manifest: str, told: str) -> None:
    (tmp_path / "Cargo.toml").write_text(manifest)
    assert told in best(found(tmp_path, a=steps_of("cargo build --release"))).built.hint


def test_a_profile_that_keeps_its_symbols_gets_no_advice(tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "Cargo.toml").write_text('[profile.release]\ndebug = "line-tables-only"\n')
    run = "cargo build --release\n        working-directory: tool"
    assert best(found(tmp_path, a=steps_of(run))).built.hint == ""


def test_steps_in_one_line_called_workflows_and_what_is_no_yaml_are_told(tmp_path: Path) -> None:
    told = found(
        tmp_path,
        flow="on: push\njobs: {b: {runs-on: ubuntu-latest, steps: [{run: make}]}}\n",
        called="on: push\njobs:\n  c:\n    uses: ./.github/workflows/other.yml\n",
        broken="on: [push\njobs: }\n",
        listed="- a\n",
    )
    assert told.jobs == ()
    assert len(told.unread) == 4


@pytest.mark.parametrize(("more_bytes", "jobs"), [(0, 1), (1, 0)])
def test_a_workflow_is_read_up_to_its_largest_size(tmp_path: Path, more_bytes: int, jobs: int) -> None:
    text = job("build", "make")
    text += "#" * (MAX_READ_BYTES - len(text) + more_bytes)
    told = found(tmp_path, a=text)
    assert len(told.jobs) == jobs
    assert list(told.unread) == [".github/workflows/a.yml: is larger than 512 KiB"] * (1 - jobs)


def test_what_sends_symbols_already_is_told(tmp_path: Path) -> None:
    told = found(tmp_path, a=job("build", "make", more="      - uses: symup/symup@v0.1.0\n"))
    assert told.sends_already == (".github/workflows/a.yml",)


@pytest.mark.parametrize(
    "text",
    ["jobs: 3\n", "jobs: {a: 3}\n", "jobs: {a: {steps: 3}}\n", "jobs:\n  a:\n    steps:\n    - 3\n    - run: [1]\n", "on: 1\n", "\0", ""],
)  # fmt: skip
def test_odd_documents_do_no_harm(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, a=text).jobs == ()
    (tmp_path / ".gitlab-ci.yml").write_text(text)
    assert find(tmp_path).jobs == ()


def test_gitlabs_jobs_and_what_they_keep(tmp_path: Path) -> None:
    (tmp_path / ".gitlab-ci.yml").write_text("""\
.hidden: {script: [make]}
default: {script: [make]}
test: {script: make}
build:
  script: ["cmake -B out", "cmake --build out"]
  artifacts: {paths: [out/]}
""")
    told = find(tmp_path)
    assert [one.name for one in told.jobs] == ["build", "test"]
    assert best(told).keeps == ("out/",)
    assert best(told).paths == ("out",)
