"""The Java runtime and the jars that run on it."""

import os
import tempfile
from functools import cache
from pathlib import Path

from headrace.pipeline.java import SUPPORTED_VERSIONS, NoJavaError, find_java_home
from tests.environment import debian
from tests.environment.downloads import run_download
from tests.environment.paths import build_once, find_program

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <packaging>{packaging}</packaging>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = """
    <dependency><groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version>{3}</dependency>"""
_MAVEN_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:2.8"
_WITHOUT_ITS_OWN = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)


@cache
def java_home() -> Path:
    """Return the home of Java 17 (or 21 where Debian has no 17), installing it if we may."""
    try:
        return find_java_home()
    except NoJavaError:
        packages = [f"openjdk-{version}-jre-headless" for version in SUPPORTED_VERSIONS]
        debian.install(next(filter(debian.offers, packages), packages[0]))
        return find_java_home()


def java_environment() -> dict[str, str]:
    """Return the environment in which Java programs are started."""
    home = java_home()
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "JAVA_HOME": str(home), "PATH": path}


def project(
    own: str, required: tuple[str, ...], *, packaging: str = "jar", transitive: bool = True
) -> str:
    """Return a pom.xml of `own`, which requires others; each is `group:artifact:version`."""
    exclusions = "" if transitive else _WITHOUT_ITS_OWN
    dependencies = "".join(_DEPENDENCY.format(*it.split(":"), exclusions) for it in required)
    names = dict(zip(("group", "artifact", "version"), own.split(":"), strict=True))
    return _POM.format(**names, packaging=packaging, dependencies=dependencies)


def fetch_jars(name: str, coordinates: tuple[str, ...], *, transitive: bool) -> Path:
    """Return a directory with the jars of `coordinates` (`group:artifact:version`), from Maven."""

    def build(directory: Path) -> None:
        if find_program("mvn") is None:
            java_home()  # first, so that Debian does not choose a Java for Maven
            debian.install("maven")
        pom = directory.with_name("pom.xml")
        own = f"headrace:{name}:1"
        pom.write_text(project(own, coordinates, packaging="pom", transitive=transitive))
        command = [
            "mvn",
            "-B",
            "-q",
            "-Dstyle.color=never",
            "-f",
            pom,
            f"{_MAVEN_PLUGIN}:copy-dependencies",
        ]
        command += [f"-DoutputDirectory={directory}", "-DincludeScope=runtime"]
        # Without -U, Maven keeps a failed look-up and does not ask again.
        run_download([*command, "-U"], environment=java_environment())

    return build_once(name, build)


def temporary_files() -> str:
    """Return the option by which Java puts its temporary files where ours are."""
    return f"-Djava.io.tmpdir={tempfile.gettempdir()}"


def class_path(jars: Path) -> str:
    """Return the class path of all jars in a directory."""
    return f"{jars}/*"
