"""Show the live page: a Kafka broker, the service and a made-up feed, until Ctrl-C.

    python deploy/live.py --port 8080 --rate 50

Everything lies in a temporary folder, which is gone in the end.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

FOLDER = Path(__file__).resolve().parent
BROKER = FOLDER / "kafka-local" / "broker.py"
PRODUCER = FOLDER / "produce_demo.py"
# Compiles what the service needs, while Kafka starts.
COMPILES = ["-m", "stream_dedup", "demo", "--documents=200", "--seconds=0"]
COMPILES += ["--set=similarity.verify=exact"]
START_SECONDS_MAX = 90.0
STOP_SECONDS_MAX = 45.0
LOOK_SECONDS = 0.2
EXIT_FAILED = 1


class Failed(Exception):
    """One of the programs ended by itself; it has said why."""


@contextmanager
def program(name: str, *command: str, **others: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a program beside this one, and end it as a supervisor does."""
    environment = {**os.environ, **others}
    # In a session of its own: Ctrl-C comes to this program, which ends the others in order.
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                sys.stderr.write(f"{name} did not end, and is killed\n")
                process.kill()


def live(port: int, rate: float) -> None:
    """Start all of it, tell where the page is, and wait."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stream-dedup-")))
        _tell("Starting Kafka; the first time its jars are fetched …")
        kafka = (str(BROKER), "--port", "0", "--data", str(folder / "kafka"))
        broker = stack.enter_context(program("Kafka", sys.executable, *kafka))
        compiler = stack.enter_context(program("the demo", sys.executable, *COMPILES))
        assert broker.stdout is not None
        servers = broker.stdout.readline().strip()
        if not servers:
            raise Failed
        if compiler.poll() is None:
            _tell("Compiling, once; it takes half a minute …")
        compiler.communicate()
        if compiler.returncode:
            raise Failed
        settings = {
            "STREAM_DEDUP_KAFKA__BOOTSTRAP_SERVERS": servers,
            "STREAM_DEDUP_INDEX__DIRECTORY": str(folder / "index"),
            "STREAM_DEDUP_HTTP__PORT": str(port),
            # Keeps the texts, so that the page can show matches side by side.
            "STREAM_DEDUP_SIMILARITY__VERIFY": "exact",
            "STREAM_DEDUP_LOG__LEVEL": "warning",
        }
        _tell("Starting stream-dedup …")
        run = (sys.executable, "-m", "stream_dedup", "run")
        service = stack.enter_context(program("stream-dedup", *run, **settings))
        address = f"http://127.0.0.1:{port}"
        _await(f"{address}/readyz", service)
        feed = (str(PRODUCER), "--bootstrap-servers", servers, "--rate", str(rate))
        producer = stack.enter_context(program("the feed", sys.executable, *feed))
        _tell(f"The page: {address}/   the metrics: {address}/metrics   Ctrl-C ends all of it.")
        while all(process.poll() is None for process in (broker, service, producer)):
            time.sleep(LOOK_SECONDS)
        raise Failed


def _await(address: str, process: "subprocess.Popen[str]") -> None:
    """Wait until a probe is answered with yes."""
    give_up = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < give_up and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=1).close()
        except OSError:
            time.sleep(LOOK_SECONDS)
        else:
            return
    raise Failed


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Run until stopped; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=8080, help="of the page")
    parser.add_argument("--rate", type=float, default=50.0, help="documents a second")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, _stop)
    try:
        live(asked.port, asked.rate)
    except KeyboardInterrupt:
        return 0
    except Failed:
        sys.stderr.write("error: one of the programs ended; what it said stands above\n")
    return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
