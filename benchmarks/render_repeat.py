"""The end of RESULTS.md: how all of it is measured again."""

from collections.abc import Iterable

from benchmarks.writing import filled, table

_RUN = """\
`STREAM_DEDUP_CORPORA=folder make bench` measures everything and writes this page: an hour and more
on two cores that nobody else uses, 10 GB of disk, Java and Maven for the service. `make bench
QUICK=1` takes five minutes: it measures signing, the engine, pairs and recall beside the other
libraries, prints each ratio beside the committed one, marks what lies more than a quarter from it,
and changes no file. One part alone is `.venv/bin/python -m benchmarks.NAME`, as below each section;
`python -m benchmarks.render` writes the page.
"""

_NOISE = """\
Below each section stand the command, the day, the machine and how far the rounds of ours lay apart.
Who shares the machine sees it there first: a core that is lent to others makes every time longer,
those with threads more than the rest. Counts (recall, precision, pairs, bytes) are the same on any
machine, but for memory, which is as the allocator has it.
"""

_CORPORA = """\
The corpora are public; their texts are not ours to hand on. Each is a file `NAME/docs.jsonl.gz`, a
line a document, objects with `id` and `text`, in `debian_desc_multi` with `lang` too; where people
said which documents are copies, `NAME/truth.tsv` has a line for each pair, or for each document and
its group, below a header.
"""

_ORIGINS = {
    "civil_procedure_codes": "codes of civil procedure, 1801–1933, split into sections: Funk and "
    "Mullen, `lmullen/civil-procedure-codes`",
    "debian_desc_multi": "descriptions of packages in five languages: Debian's `Translation-*`",
    "rfc_revisions": "RFCs that obsolete one another under the same title: Debian's `doc-rfc-*`",
    "biblio_dedup": "bibliographic records with marked copies: `CoLRev-Environment/bib-dedupe`",
    "mccormick_minhash": "articles of which some are copied: `chrisjmccormick/MinHash`",
    "clough_stevenson": "answers copied, revised or written freely: Clough and Stevenson's Corpus "
    "of Plagiarised Short Answers",
}


def section() -> Iterable[str]:
    """Return the paragraphs."""
    yield "## How to repeat it\n"
    yield filled(_RUN)
    yield filled(_NOISE)
    yield filled(_CORPORA)
    yield table(
        ["corpus", "what it is"], ([f"`{name}`", words] for name, words in _ORIGINS.items())
    )
