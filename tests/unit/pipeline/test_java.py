"""Choosing among Java runtimes, which are scripts here."""

from pathlib import Path

import pytest

from headrace.pipeline import java


def install_java(directory: Path, name: str, version: str, *, status: int = 0) -> Path:
    """Put a program at <name>/bin/java that prints `version` as Java does."""
    program = directory / name / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\nexit {status}\n")
    program.chmod(0o755)
    return directory / name


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no Java but what the test installs in the directory returned."""
    monkeypatch.setattr(java, "JVM_DIRECTORIES", (tmp_path,))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setattr(java.shutil, "which", lambda name: None)
    return tmp_path


def test_17_is_taken_before_21_and_25(machine: Path) -> None:
    install_java(machine, "a-25", "25.0.1")
    install_java(machine, "b-21", "21.0.4")
    wanted = install_java(machine, "c-17", "17.0.15")
    assert java.find_java_home() == wanted


def test_21_is_taken_where_there_is_no_17(machine: Path) -> None:
    install_java(machine, "a-25", "25.0.1")
    wanted = install_java(machine, "b-21", "21.0.4")
    assert java.find_java_home() == wanted


def test_only_a_newer_one_is_said(machine: Path) -> None:
    install_java(machine, "a-25", "25.0.1")
    with pytest.raises(java.NoJavaError, match=r"only Java 25 in .*a-25.*openjdk-17-jre-headless"):
        java.find_java_home()


def test_an_old_one_is_not_taken_for_a_new_one(machine: Path) -> None:
    install_java(machine, "a-8", "1.8.0_402")
    with pytest.raises(java.NoJavaError, match="only Java 1 in"):
        java.find_java_home()


def test_none_is_said(machine: Path) -> None:
    with pytest.raises(java.NoJavaError, match="found no Java"):
        java.find_java_home()


def test_java_home_counts_too(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = install_java(machine / "elsewhere", "jdk", "17.0.2")
    monkeypatch.setattr(java, "JVM_DIRECTORIES", ())
    monkeypatch.setenv("JAVA_HOME", str(elsewhere))
    assert java.find_java_home() == elsewhere
