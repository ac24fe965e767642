"""What a rehearsal is for: the first batch that somebody waits for is as fast as any other."""

import subprocess
import sys

import pytest

# Which compiled functions have been called with which types, before and after a first batch.
PROGRAM = """
import sys, tempfile
from numba.core.dispatcher import Dispatcher
from stream_dedup.config import Settings, SimilaritySettings
from stream_dedup.engine import UNDATED, Matcher, Record, Signer
from stream_dedup.events import Document, RecordReference
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.rehearsal import rehearse

def loaded():
    modules = [module for name, module in sys.modules.items() if name.startswith("stream_dedup")]
    found = {id(value): value for module in modules for value in vars(module).values()}
    kernels = [value for value in found.values() if isinstance(value, Dispatcher)]
    return {(kernel.__name__, types) for kernel in kernels for types in kernel.signatures}

settings = Settings(similarity=SimilaritySettings(**eval(sys.argv[1])))
rehearse(settings)
rehearsed = loaded()
texts = [f"The {at % 40} ships that left the harbour came home before the storm. " * (at % 7 + 1)
         for at in range(400)]
records = [Record(Document(id=str(at), text=text), at, UNDATED,
                  RecordReference(topic="t", partition=0, offset=at))
           for at, text in enumerate(texts)]
with tempfile.TemporaryDirectory() as directory:
    index = RocksIndex.open(directory, settings.index)
    matcher = Matcher(index, settings)
    matcher.remember(matcher.match(Signer(settings).sign(records)))
    index.close()
assert rehearsed, "nothing is compiled at all"
print(*sorted(name for name, _ in loaded() - rehearsed))
"""


@pytest.mark.parametrize(
    "similarity", [{}, {"unit": "word", "size": 3}, {"measure": "cosine"}, {"verify": "exact"}]
)
def test_a_batch_after_it_has_nothing_to_load(similarity: dict[str, object]) -> None:
    """Whatever the first documents call is there, under each kind of settings."""
    command = [sys.executable, "-c", PROGRAM, repr(similarity)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True)

    assert done.stdout.split() == []
