"""Run one Kafka broker on this machine, without Docker, until it is stopped.

Its jars are fetched once, with Maven, into `libs` beside this file. What it keeps is in its data
folder: `topics`, `server.properties`, `kafka.log` with the warnings of the last run, and settings
over its own, if you put them into `more.properties`: {host} and {port} stand for where it listens.
"""

from __future__ import annotations  # it may run on an older Python: it needs no environment

import argparse
import base64
import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO
from xml.etree import ElementTree

FOLDER = Path(__file__).resolve().parent
POM = FOLDER / "pom.xml"
JARS = FOLDER / "libs"
PROPERTIES = FOLDER / "broker.properties"
VERSION = ElementTree.parse(POM).findtext("version")

HOST = "127.0.0.1"
JAVA_VERSION_MIN = 17
NEEDED = "Java 17+ and Maven are needed for a local Kafka"
FETCH_SECONDS_MAX = 600
START_SECONDS_MAX = 180
STOP_SECONDS_MAX = 20
LOOK_SECONDS = 0.05

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 0}


class BrokerError(Exception):
    """Stop: the broker cannot start, or has stopped by itself."""

    exit_code = EXIT_FAILED


class UsageError(BrokerError):
    """Stop before any work is done: something is missing or taken, and the message says what."""

    exit_code = EXIT_USAGE


def main() -> int:
    """Run a broker as the command line says; return the exit code if no signal ended it."""
    options = parse_arguments()
    for number in EXIT_CODES:
        signal.signal(number, leave)
    try:
        return run(options.port, options.data)
    except BrokerError as error:
        say(f"error: {error}")
        return error.exit_code


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=f"Run one Kafka {VERSION} broker on this machine, until Ctrl-C or SIGTERM.",
        epilog="Once it answers clients, its address, such as 127.0.0.1:9092, is the only line of "
        "the standard output. Java 17 or newer is needed, and Maven the first time, to fetch "
        "Kafka. Topics are not created by producing to them. To start afresh, delete the data "
        f"folder. Kafka's own commands: java -cp '{shown(JARS)}/*' "
        "org.apache.kafka.tools.TopicCommand --bootstrap-server 127.0.0.1:9092 --list",
    )
    parser.add_argument(
        "--port", type=int, default=9092, help="where clients connect; 0 takes a free one (9092)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=FOLDER / "data",
        help=f"the folder it keeps everything in ({shown(FOLDER / 'data')})",
    )
    return parser.parse_args()


def run(port: int, data: Path) -> int:
    """Serve until a signal ends it, with the topics of an earlier run; return the exit code."""
    port = claim_port(port)
    java = find_java()
    fetch_jars()
    with claimed(data) as log:
        controller_port = claim_port(0)
        more = data / "more.properties"
        written = PROPERTIES.read_text("ascii") + (more.read_text("ascii") if more.exists() else "")
        written = written.format(host=HOST, port=port, controller_port=controller_port)
        (data / "server.properties").write_text(written, encoding="ascii")
        if not (data / "topics" / "meta.properties").exists():
            format_topics(java, data, log)
        say(f"Starting Kafka {VERSION}, data and kafka.log in {shown(data)} …")
        return serve(java, data, log, port)


def claim_port(port: int) -> int:
    """Return the port if it is free, any free one for 0."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Kafka does
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "there is no such port"
            raise UsageError(
                f"port {port} cannot be used: {reason}; take another with `make kafka PORT=9192`, "
                "or any free one with `make kafka PORT=0`"
            ) from None
        free: int = probe.getsockname()[1]
    return free


def find_java() -> str:
    """Return the Java to run, `JAVA_HOME`'s or else the path's, if it and Maven are there."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    missing = [] if shutil.which(java) else [java]
    missing += [] if has_jars() or shutil.which("mvn") else ["mvn"]
    if missing:
        hint = "Debian and Ubuntu: apt install default-jre-headless maven"
        raise UsageError(f"{NEEDED}; not found: {' and '.join(missing)} ({hint})")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', answer)
    if version is None or int(version[1]) < JAVA_VERSION_MIN:
        said = answer.strip().partition("\n")[0]
        raise UsageError(f"{NEEDED}; {java} says: {said} (JAVA_HOME can name another)")
    return java


def has_jars() -> bool:
    """Tell whether the jars are complete and those that the present pom.xml asks for."""
    fetched = JARS / POM.name
    return fetched.exists() and fetched.read_bytes() == POM.read_bytes()


def fetch_jars() -> None:
    """Have Maven fetch Kafka and all it needs, unless that was done before."""
    with POM.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another may be at it
        if has_jars():
            return
        say(f"Fetching Kafka {VERSION} with Maven, once, into {shown(JARS)} …")
        shutil.rmtree(JARS, ignore_errors=True)
        command = ["mvn", "--quiet", "--batch-mode", "-Dstyle.color=never", "--strict-checksums"]
        command += [f"--file={POM}", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        command += [f"-DoutputDirectory={JARS}"]
        try:
            subprocess.run(command, stdout=sys.stderr, timeout=FETCH_SECONDS_MAX, check=True)
        except subprocess.TimeoutExpired:
            raise BrokerError(f"Maven is not done after {FETCH_SECONDS_MAX} seconds") from None
        except subprocess.CalledProcessError:
            raise BrokerError("Maven could not fetch Kafka, for the reason above") from None
        shutil.copy(POM, JARS)  # last, for it says that all is there


@contextmanager
def claimed(data: Path) -> Iterator[IO[bytes]]:
    """Open the log of a data folder that no other broker uses.

    The broker inherits the lock with the log, so the folder is taken for as long as it lives.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        log = (data / "kafka.log").open("ab")
    except OSError as error:
        raise UsageError(f"{data} cannot hold the data: {error.strerror}") from None
    with log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"another broker is running on the data in {shown(data)}; "
                "stop it, or take another folder with `make kafka DATA=…`"
            ) from None
        log.truncate(0)
        yield log


def format_topics(java: str, data: Path, log: IO[bytes]) -> None:
    """Prepare an empty data folder, as Kafka wants it done before the first start."""
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes)[:22].decode()
    command = kafka(java, "256m", "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}")
    command += ["--config=server.properties"]
    finished = subprocess.run(command, cwd=data, stdout=log, stderr=log, check=False)
    if finished.returncode:
        raise BrokerError(f"Kafka could not format its data; {shown(data)}/kafka.log says why")


def kafka(java: str, heap: str, main_class: str, *arguments: str) -> list[str]:
    """Write the command that runs one of Kafka's programs."""
    options = [f"-Xmx{heap}", "-Dlog4j2.level=WARN", "-cp", f"{JARS}/*"]
    return [java, *options, main_class, *arguments]


def serve(java: str, data: Path, log: IO[bytes], port: int) -> int:
    """Run the broker, say when it is ready, stop it at a signal; return the signal's exit code."""
    stops: list[int] = []
    for number in EXIT_CODES:
        # Only noted: an exception while the process is being made would leave it behind.
        signal.signal(number, lambda number, _frame: stops.append(number))
    command = kafka(java, "384m", "kafka.Kafka", "server.properties")
    server = subprocess.Popen(command, cwd=data, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait(server, stops, port)
    finally:
        stop(server)
    if not stops:
        raise BrokerError(f"Kafka has stopped by itself; {shown(data)}/kafka.log says why")
    return EXIT_CODES[signal.Signals(stops[0])]


def wait(server: subprocess.Popen[bytes], stops: list[int], port: int) -> None:
    """Return once the server has ended or a signal came; print the address when it is ready."""
    ready = False
    give_up = time.monotonic() + START_SECONDS_MAX
    while not stops and server.poll() is None:
        if not ready and is_ready(port):
            ready = True
            say("Kafka is ready; Ctrl-C stops it. Its address, for bootstrap_servers:")
            sys.stdout.write(f"{HOST}:{port}\n")
            sys.stdout.flush()
        if not ready and time.monotonic() > give_up:
            raise BrokerError(f"Kafka is not ready after {START_SECONDS_MAX} seconds")
        time.sleep(LOOK_SECONDS)


def is_ready(port: int) -> bool:
    """Ask for metadata, as any client does first; tell whether a broker is named in the answer."""
    request = struct.pack(">ihhihi", 14, 3, 0, 0, -1, 0)  # Metadata v0 of no topic in particular
    try:
        with socket.create_connection((HOST, port), timeout=1) as connection:
            connection.sendall(request)
            reply = connection.makefile("rb").read(12)
    except OSError:
        return False
    return len(reply) == 12 and struct.unpack(">iii", reply)[2] > 0


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server: kindly at first."""
    server.terminate()
    try:
        server.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def leave(number: int, _frame: FrameType | None) -> None:
    """Leave at once; a program that is being run for its result is killed on the way out."""
    raise SystemExit(EXIT_CODES[signal.Signals(number)])


def shown(path: Path) -> str:
    """Write a path as short as it can be typed here."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def say(message: str) -> None:
    """Tell the person at the terminal."""
    sys.stderr.write(f"{message}\n")


if __name__ == "__main__":
    sys.exit(main())
