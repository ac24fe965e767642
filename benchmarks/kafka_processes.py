"""The broker of `deploy/kafka-local` and the service, each in a process of its own."""

import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stream_dedup.config import (
    EventsSettings,
    IndexSettings,
    KafkaSettings,
    Settings,
    TopicSettings,
)
from stream_dedup.quantities import Duration

_BROKER = Path(__file__).parents[1] / "deploy" / "kafka-local" / "broker.py"
_TOPICS = ("documents", "signatures", "matches", "rejected")


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """Run a broker; yield its address."""
    command = [sys.executable, str(_BROKER), "--port=0", f"--data={folder / 'kafka'}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def new_settings(servers: str, folder: Path) -> Settings:
    """Return the settings of a new application, which answers each document."""
    application = f"bench-{uuid.uuid4().hex[:8]}"
    topics = TopicSettings(**{name: f"{application}-{name}" for name in _TOPICS})
    return Settings(
        events=EventsSettings(emit="all"),
        index=IndexSettings(directory=str(folder / application), window=Duration("inf")),
        kafka=KafkaSettings(bootstrap_servers=servers, application=application, topics=topics),
    )


@contextmanager
def service(settings: Settings, role: str = "all") -> Iterator[Path]:
    """Run the service in a process; yield its log."""
    kafka, directory = settings.kafka, Path(settings.index.directory)
    log = directory.with_name(f"{uuid.uuid4().hex}.log")
    given = {
        "kafka.bootstrap_servers": kafka.bootstrap_servers,
        "kafka.application": kafka.application,
        **{f"kafka.topics.{name}": f"{kafka.application}-{name}" for name in _TOPICS},
        "events.emit": settings.events.emit,
        "index.directory": str(directory),
        "index.window": "none",
        "log.format": "json",
        "http.port": "0",
    }
    command = [sys.executable, "-m", "stream_dedup", "run", "--role", role]
    command += [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    with log.open("w") as lines, subprocess.Popen(command, stderr=lines) as process:
        try:
            yield log
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
