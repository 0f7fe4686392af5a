"""Fetch Java artifacts with the Ivy that PySpark brings, so that nobody needs Maven.

Ivy finds the public registry by its own defaults. Where those do not reach, an Ivy settings file
of the house can be named by KAFKALAB_IVY_SETTINGS. Java trusts neither the certificates nor the
proxies that pip was told about; both are handed over here, or a company network stops the course.
"""

import contextlib
import os
import ssl
import subprocess
import urllib.parse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from kafkalab import environment
from kafkalab.errors import CourseError
from kafkalab.java import same
from kafkalab.java.runtime import java

PROXY_PORTS = {"https": 443, "socks4": 1080, "socks5": 1080, "socks5h": 1080}
# Without POMs an exact list needs one request per artifact; our own sums replace the registry's.
EXACT_SETTINGS = """<ivysettings>
  <settings defaultResolver="public"/>
  <property name="ivy.checksums" value=""/>
  <resolvers><ibiblio name="public" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""


class NoNetwork(CourseError):
    """The registry of Java artifacts was not reached."""


class DiskFull(CourseError):
    """No room for what has to be fetched."""

    @classmethod
    def at(cls, folder: Path) -> "DiskFull":
        return cls(
            "The disk is too full for the Java packages of the course.",
            f"They take 70 MB in {folder}.",
            "Make room, or let KAFKALAB_CACHE name a folder on another disk. Then: ./course setup",
        )


@dataclass(frozen=True, order=True)
class Artifact:
    """One file of the registry, written group:name:version[:classifier][@type]."""

    group: str
    name: str
    version: str
    classifier: str = ""
    type: str = "jar"

    @classmethod
    def parse(cls, coordinate: str) -> "Artifact":
        text, _, kind = coordinate.partition("@")
        group, name, version, classifier = f"{text}:".split(":")[:4]
        return cls(group, name, version, classifier, kind or "jar")

    def __str__(self) -> str:
        text = ":".join(part for part in (self.group, self.name, self.version) if part)
        text += f":{self.classifier}" if self.classifier else ""
        return text + (f"@{self.type}" if self.type != "jar" else "")

    @property
    def file_name(self) -> str:
        """As Maven's registries name it."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.name}-{self.version}{suffix}.{self.type}"


def fetch(
    artifacts: Sequence[Artifact],
    work: Path,
    *,
    transitive: bool = False,
    inherit: Sequence[int] = (),
    seen: Callable[[int], object] = lambda size: None,
) -> list[Path]:
    """Bring the artifacts, with all they need if `transitive`, into `work` and say where they lie.

    What an interrupted call left in `work` is used again. `seen` is told the bytes so far, about
    five times a second. `inherit` are file descriptors that Ivy keeps open, so that a lock taken
    by the caller lasts as long as Ivy writes, even if the caller is killed.
    """
    work.mkdir(parents=True, exist_ok=True)
    found, log = work / "found.txt", work / "ivy.log"
    found.unlink(missing_ok=True)
    (work / "ivy.xml").write_text(_module(artifacts, transitive), "utf-8")
    command: list[str | Path] = [java().executable, *same.options(work), *_network_flags(work)]
    command += ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-jar", _ivy()]
    command += ["-ivy", work / "ivy.xml", "-cache", work / "ivy", "-cachepath", found]
    if settings := os.environ.get("KAFKALAB_IVY_SETTINGS"):
        command += ["-settings", settings]
    elif not transitive:
        (work / "settings.xml").write_text(EXACT_SETTINGS, "utf-8")
        command += ["-settings", work / "settings.xml"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=inherit,
            env=environment.for_java(),
        )
        try:
            while process.poll() is None:
                seen(fetched(work))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.2)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if process.returncode != 0 or not found.exists():
        raise _reason(log, len(artifacts))
    return [Path(path) for path in found.read_text("utf-8").strip().split(os.pathsep)]


def cached(path: Path) -> Artifact:
    """The artifact of a file in Ivy's cache: group/name/types/name-version[-classifier].type"""
    group, name = path.parts[-4:-2]
    rest, dot, kind = path.name.removeprefix(f"{name}-").partition(".tar.")
    kind = f"tar.{kind}" if dot else path.suffix[1:]
    rest = rest if dot else rest.removesuffix(path.suffix)
    described = (found.stem.removeprefix("ivy-") for found in path.parents[1].glob("ivy-*.xml"))
    version = max((v for v in described if f"{rest}-".startswith(f"{v}-")), key=len, default=rest)
    return Artifact(group, name, version, rest[len(version) + 1 :], kind)


def fetched(work: Path) -> int:
    """How many bytes an attempt in `work` has brought so far."""
    total = 0
    for folder, _, files in os.walk(work / "ivy"):
        for file in files:
            # Ivy renames a file when it is whole, perhaps at this moment.
            with contextlib.suppress(FileNotFoundError):
                total += os.path.getsize(os.path.join(folder, file))  # noqa: PTH118, PTH202
    return total


def _module(artifacts: Sequence[Artifact], transitive: bool) -> str:
    wanted = "runtime,master" if transitive else "master(default)"
    lines = [
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">',
        '<info organisation="course" module="jars"/>',
        '<configurations><conf name="default"/></configurations><dependencies>',
    ]
    for a in artifacts:
        lines.append(
            f"<dependency org={quoteattr(a.group)} name={quoteattr(a.name)}"
            f' rev={quoteattr(a.version)} conf="default->{wanted}"'
            f' transitive="{str(transitive).lower()}">'
        )
        if a.classifier or a.type != "jar":
            lines.append(
                f"<artifact name={quoteattr(a.name)} type={quoteattr(a.type)}"
                f" ext={quoteattr(a.type)} m:classifier={quoteattr(a.classifier)}/>"
            )
        lines.append("</dependency>")
    return "\n".join([*lines, "</dependencies></ivy-module>", ""])


def _ivy() -> Path:
    import importlib.util

    # Looked up without importing PySpark, which takes a second.
    spec = importlib.util.find_spec("pyspark")
    home = Path(spec.origin).parent if spec and spec.origin else Path()
    for jar in sorted((home / "jars").glob("ivy-*.jar")):
        return jar
    raise CourseError(
        "PySpark, which brings the tool that fetches Java packages, is not installed whole.",
        f"No ivy-*.jar lies in {home / 'jars'}.",
        "Install it again: .venv/bin/python -m pip install --force-reinstall pyspark",
    )


def _network_flags(work: Path) -> list[str]:
    flags = ["-Dsun.net.client.defaultConnectTimeout=15000"]
    flags += ["-Dsun.net.client.defaultReadTimeout=60000"]
    # The one for every scheme first: of two options of one name, Java takes the last.
    for scheme, address in sorted(environment.proxies().items()):
        parts = urllib.parse.urlsplit(address)
        port = parts.port or PROXY_PORTS.get(parts.scheme, 80)
        options = ["http.proxy", "https.proxy"] if scheme == "all" else [f"{scheme}.proxy"]
        for option in ["socksProxy"] if parts.scheme.startswith("socks") else options:
            flags += [f"-D{option}Host={parts.hostname}", f"-D{option}Port={port}"]
    if store := _trust_store(work):
        flags += [f"-Djavax.net.ssl.trustStore={store}"]
        flags += ["-Djavax.net.ssl.trustStorePassword=changeit"]
    return flags


def _trust_store(work: Path) -> Path | None:
    """The certificates that Python and pip trust, in Java's form; None where there are none."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    context = ssl.create_default_context()
    for variable in ("PIP_CERT", "REQUESTS_CA_BUNDLE"):
        if (bundle := os.environ.get(variable)) and Path(bundle).is_file():
            context.load_verify_locations(bundle)
    with warnings.catch_warnings():
        # A few old roots break today's rules for serial numbers; they are not ours to mend.
        warnings.simplefilter("ignore")
        trusted = [
            pkcs12.PKCS12Certificate(x509.load_der_x509_certificate(der), f"{n}".encode())
            for n, der in enumerate(context.get_ca_certs(binary_form=True))
        ]
    if not trusted:
        return None
    store = work / "trust.p12"
    # Certificates are public; the password only satisfies the format.
    store.write_bytes(
        pkcs12.serialize_java_truststore(trusted, BestAvailableEncryption(b"changeit"))
    )
    return store


def _reason(log: Path, wanted: int) -> CourseError:
    text = log.read_text("utf-8", errors="replace")
    again = "Try again: ./course setup"
    if "No space left" in text or "quota exceeded" in text or "File too large" in text:
        return DiskFull.at(log.parent)
    if "PKIX" in text or "SSLHandshake" in text:
        return NoNetwork(
            "The registry of Java packages answered with a certificate that is not trusted here.",
            "A network that inspects its traffic has a certificate authority of its own.",
            "Let SSL_CERT_FILE name a file with that authority. Then: ./course setup",
        )
    signs = ["UnknownHost", "ConnectException", "refused", "timed out", "Timeout", "NoRouteToHost"]
    signs += ["access error", "NoHttpResponse", "unreachable", "Connection reset", "EOFException"]
    # Ivy's words for a name that nobody resolves.
    signs += ["proxy server that is not well configured"]
    if any(sign in text for sign in signs):
        return NoNetwork(
            "No network: the registry of Java packages cannot be reached.",
            f"{wanted} Java packages were to be fetched. The last words of the attempt are in "
            f"{log}.",
            "Connect to the internet and try again: ./course setup. Behind a proxy: "
            "export HTTPS_PROXY=http://HOST:PORT first. In a room without a network use a bundle "
            "made elsewhere: ./course setup --bundle FILE",
        )
    return CourseError("The Java packages were not fetched.", f"The attempt is in {log}.", again)
