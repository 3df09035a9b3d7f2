"""A Java process whose classes tests call."""

from pathlib import Path

import py4j
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from tests.environment.java import class_path, java_home, temporary_files


def java_gateway(jars: Path) -> JavaGateway:
    """Start a process with the jars of a directory; `shutdown` ends it."""
    (jar,) = (Path(py4j.__file__).parents[4] / "share/py4j").glob("py4j*.jar")
    port, token = launch_gateway(
        jarpath=str(jar),
        classpath=class_path(jars),
        javaopts=["-XX:TieredStopAtLevel=1", "-Xmx256m", "-XX:+UseSerialGC", temporary_files()],
        java_path=str(java_home() / "bin" / "java"),
        die_on_exit=True,
        enable_auth=True,
    )
    return JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
