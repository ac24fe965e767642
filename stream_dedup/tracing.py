"""A span for each batch, linked to the traces that its records came with: for OpenTelemetry.

It is an extra: without its packages, or an address to send to, nothing is traced.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from threading import Thread
from typing import Any

from stream_dedup import __version__
from stream_dedup.errors import SettingsError

# As many as the specification lets a span have unless told otherwise.
_LINKS_MAX = 128
_PARENT = "traceparent"
_CLOSE_SECONDS = 5.0

Headers = list[tuple[str, bytes | None]]
Link = Callable[[Sequence[Headers]], None]


class NoTracing:
    """Tells nobody."""

    def batch(self, role: str, topic: str) -> AbstractContextManager[Link]:
        """Be around the work on a batch; what is given may be called with its records' headers."""
        return nullcontext(lambda headers: None)

    def close(self) -> None:
        """Send what is not sent yet, with a bound."""


class OpenTelemetry:
    """Sends spans over OTLP; from a thread of its own, so no batch waits for it."""

    def __init__(self, endpoint: str, instance: str) -> None:
        """Take the address of a collector, such as http://localhost:4318/v1/traces."""
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.trace import SpanKind, get_current_span
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ImportError:
            raise SettingsError(
                "tracing.endpoint needs packages that are not there: "
                "pip install 'stream-dedup[tracing]'"
            ) from None
        told = {
            "service.name": "stream-dedup",
            "service.version": __version__,
            "service.instance.id": instance,
        }
        self._provider = TracerProvider(resource=Resource.create(told), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint)))
        self._tracer = self._provider.get_tracer("stream_dedup", __version__)
        self._reads = TraceContextTextMapPropagator()
        self._get_span, self._kind = get_current_span, SpanKind.CONSUMER

    @contextmanager
    def batch(self, role: str, topic: str) -> Iterator[Link]:
        """Make a span around a batch, which notes what goes wrong within it."""
        attributes = {
            "messaging.system": "kafka",
            "messaging.destination.name": topic,
            "messaging.operation.name": role,
        }
        with self._tracer.start_as_current_span(
            f"{role} {topic}", kind=self._kind, attributes=attributes
        ) as span:
            yield partial(self._link, span)

    def close(self) -> None:
        """Send what is left, as far as the collector takes it soon."""
        leaving = Thread(target=self._provider.shutdown, daemon=True)
        leaving.start()
        leaving.join(_CLOSE_SECONDS)

    def _link(self, span: Any, headers: Sequence[Headers]) -> None:
        """Link a span to those that the records of its batch name, each once."""
        span.set_attribute("messaging.batch.message_count", len(headers))
        parents = dict.fromkeys(
            value.decode("ascii", "replace")
            for record in headers
            for name, value in record
            if name == _PARENT and value
        )
        for parent in list(parents)[:_LINKS_MAX]:
            context = self._context(parent)
            if context.is_valid:  # else it was no `traceparent`
                span.add_link(context)

    def _context(self, parent: str) -> Any:
        return self._get_span(self._reads.extract({_PARENT: parent})).get_span_context()


Tracing = NoTracing | OpenTelemetry


def tracing(endpoint: str, instance: str) -> Tracing:
    """Trace to an address, or not at all where there is none."""
    return OpenTelemetry(endpoint, instance) if endpoint else NoTracing()
