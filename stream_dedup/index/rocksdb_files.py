"""The files of an index: how RocksDB lays them out and opens them.

A keyspace is two column families, one for each generation, `texts.a` and `texts.b`; the family
`meta` names the generation that is the current one. All families share cache and memory.
"""

from contextlib import ExitStack, suppress
from pathlib import Path
from traceback import clear_frames
from types import TracebackType
from typing import Any, Literal

from rocksdict import (
    AccessType,
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    DBCompactionStyle,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    UniversalCompactionStopStyle,
    UniversalCompactOptions,
    WriteBufferManager,
)

from stream_dedup.config import IndexSettings
from stream_dedup.errors import Refused
from stream_dedup.index import directory as places
from stream_dedup.index import rocksdb_logs
from stream_dedup.index.rocksdb_families import Families, Family
from stream_dedup.interfaces import Keyspace
from stream_dedup.interpreter import FAR, give_way

Mode = Literal["write", "view"]
DATABASE = "default"  # RocksDB's own family, which stays empty
META = "meta"
OURS = b"\0"  # begins the keys of meta that do not belong to the caller
GENERATION = OURS + b"generation"
OTHER = {"a": "b", "b": "a"}

# What RocksDB says of a log that ends within a batch, and never of one that is damaged elsewhere.
_CUT_TAIL = (
    "Corruption: truncated header",
    "Corruption: truncated record body",
    "Corruption: error reading trailing data",
)
_VIEW_TRIES = 50  # beside a writer whose files live for moments every second one may fail
_BUFFER_SHARE = 4  # of the memory: a quarter holds what is in no file yet
_BUFFER_BYTES_MIN = 1 << 20
_BATCH_BYTES = 4 << 20  # more than the buckets of a full batch take in a buffer
_BUFFERS_MERGED_MAX = 24
_FILES_MERGED = 13  # fewer: more work behind the writes; more: slower look-ups
_LIKE_PERCENT = 100  # by so much files that are merged with one another may differ
_SURPLUS_PERCENT = 500  # of the oldest files of a family, in newer ones: then all are merged
_LEVELS = 48  # more than there are layers: each that was merged lies in a level of its own
_FILE_BYTES = 32 << 20  # to which a level is cut: so many that the filters of a file are small
_FILES_MAX = 64
_BUFFER_FILTER_SHARE = 0.05  # of a write buffer: some 10 bits a key
_BLOCK_BYTES = 4096
_PART_BYTES = 1 << 16  # of filter and index: a batch asks for several keys of each
_FILTERS_OF_FILES = 80  # the part of all files that is filters, as a divisor
_OPEN_FILES_MAX = 512
_LOG_BYTES_MAX = 1 << 22


class explained:
    """Turn what RocksDB says into what to do; rocksdict raises it as bare `Exception`."""

    def __init__(self, path: Path, *others: type[BaseException]) -> None:
        self._path = path
        self._others = others

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Raise what `directory.explain` makes of the error, if it is one of RocksDB."""
        if kind is Exception or isinstance(error, self._others):
            # An iterator in one of them would hold the lock as long as somebody holds the error.
            clear_frames(trace)
            raise places.explain(str(error), self._path) from None


class _passing_over:
    """Go on after an error that begins so, for which rocksdict has no class."""

    def __init__(self, *beginnings: str) -> None:
        self._beginnings = beginnings

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Tell whether to go on."""
        return kind in {Exception, Refused} and str(error).startswith(self._beginnings)


def names(generation: str) -> list[str]:
    """Name the families of a generation, in the order of the keyspaces."""
    return [f"{keyspace}.{generation}" for keyspace in Keyspace]


def open_view(path: Path, settings: IndexSettings) -> Families:
    """Open every family to read; a writer that removes files meanwhile makes it try again."""
    for _ in range(_VIEW_TRIES):
        with _passing_over(""):
            return open_families(path, settings, "view", new=False)
    return open_families(path, settings, "view", new=False)


def open_families(path: Path, settings: IndexSettings, mode: Mode, new: bool) -> Families:
    """Open every family that exists, or make them all; a rotation cut short lacks some."""
    options = _options(settings, mode, places.file_bytes(path))
    options[DATABASE].create_missing_column_families(new)
    found = [META, *names("a"), *names("b")]
    if not new:
        listed = Rdict.list_cf(str(path))
        found = [name for name in found if name in listed]
    if META not in found:
        raise places.damaged(
            path, "its file MANIFEST names no index, or is that of another program"
        )
    database = _open_database(path, found, options, mode)
    _let_merging_wait()
    opened = Families(database, {}, "a", options)
    with ExitStack() as undo:
        undo.callback(opened.close)
        if mode == "write":
            rocksdb_logs.note_first(path)
        opened.by_name.update((name, Family.of(database, name)) for name in found)
        meta = opened.by_name[META].rows
        if new and meta.get(GENERATION) is None:
            meta.put(GENERATION, b"a")
        generation = (meta.get(GENERATION) or b"").decode()
        if generation not in OTHER or not opened.by_name.keys() >= set(names(generation)):
            raise places.damaged(path, "families of the current generation are missing")
        undo.pop_all()
    return opened._replace(generation=generation)


def _open_database(path: Path, found: list[str], options: dict[str, Options], mode: Mode) -> Rdict:
    """Open it with its log as it is; where the end of the log is cut, up to the last whole batch.

    A batch is cut when the process is killed in it. Of a log that is damaged elsewhere neither what
    follows may be dropped without a word nor the batch alone be left out.
    """
    access = AccessType.read_write() if mode == "write" else AccessType.read_only(False)
    database, families = options[DATABASE], {name: options[name] for name in found}
    with _passing_over(*_CUT_TAIL):
        database.set_wal_recovery_mode(DBRecoveryMode.absolute_consistency())
        return Rdict(str(path), database, families, access)
    database.set_wal_recovery_mode(DBRecoveryMode.point_in_time())
    return Rdict(str(path), database, families, access)


def _let_merging_wait() -> None:
    """Merge with what others leave of the processors, of which a look-up wants two for moments.

    RocksDB itself has merging wait for everybody, if told to: a busy machine would never merge.
    """
    for name in Path("/proc/self/task").glob("*/comm"):  # where threads have priorities
        with suppress(OSError):  # of a thread that has ended
            if name.read_text() == "rocksdb:low\n":
                give_way(int(name.parent.name), FAR)


def _options(settings: IndexSettings, mode: Mode, file_bytes: int) -> dict[str, Options]:
    """Make the options of each family; all share one cache, in which the write buffers count."""
    # Of the rest sieves take their part, and what RocksDB counts nowhere: heads of files,
    # compactions, the allocator.
    cache_bytes = settings.memory_bytes_max * 13 // 32
    # Its parts are few and large, for much that meets in one and is more than that holds drives
    # each other out for ever: the other kind has 64. They have 32 MB or more, a filter 3 at most.
    cache = Cache.new_hyper_clock_cache(cache_bytes, _BLOCK_BYTES)
    in_small_parts = file_bytes // _FILTERS_OF_FILES > cache_bytes // 2
    buffer_bytes = settings.memory_bytes_max // _BUFFER_SHARE
    buffers = WriteBufferManager.new_write_buffer_manager_with_cache(buffer_bytes, False, cache)
    options = {}
    for name in (DATABASE, META, *names("a"), *names("b")):
        family = options[name] = Options(raw_mode=True)
        family.set_block_based_table_factory(_blocks(cache, in_small_parts))
        # In the first level too, whose files may wait for long. zstd saves a few percent in the
        # last, and unpacking costs a tenth of the rate.
        family.set_compression_type(DBCompressionType.lz4())
        family.set_write_buffer_size(max(buffer_bytes // 16, _BUFFER_BYTES_MIN))
        family.set_memtable_prefix_bloom_ratio(_BUFFER_FILTER_SHARE)
        family.set_memtable_whole_key_filtering(True)
        _merge_by_size(family)
        if name.startswith(Keyspace.BUCKETS):
            _prepare_for_buckets(family, buffer_bytes)
    database = options[DATABASE]
    database.set_write_buffer_manager(buffers)
    database.create_if_missing(mode == "write")
    database.set_max_total_wal_size(buffer_bytes)
    database.set_max_background_jobs(4)
    # A view outlives files that the writer removes, so it opens all of them at once.
    database.set_max_open_files(-1 if mode == "view" else _OPEN_FILES_MAX)
    database.set_keep_log_file_num(2)
    database.set_max_log_file_size(_LOG_BYTES_MAX)
    return options


def _prepare_for_buckets(family: Options, buffer_bytes: int) -> None:
    """Insert fast: of the 24 rows of a document 21 come here, nearly all looked for in vain."""
    # Inserting takes the interpreter's lock, and half as long again where a row has to find its
    # place: a full batch fills a buffer of its own, to which its rows come in their order. Files
    # come out large all the same, each made of several buffers.
    family.set_write_buffer_size(_BUFFER_BYTES_MIN)
    buffers = min(max(buffer_bytes // _BATCH_BYTES, 4), _BUFFERS_MERGED_MAX)
    family.set_min_write_buffer_number_to_merge(buffers)
    family.set_max_write_buffer_number(buffers * 3 // 2)
    # What the sieve lets pass is mostly there, and most of what is there lies in the last level: a
    # filter of all that would be asked in vain, and take the place of rows in the cache.
    family.set_optimize_filters_for_hits(True)


def _merge_by_size(family: Options) -> None:
    """Merge files of like size, not level by level: that spares half of the work behind the writes.

    A look-up asks one more file for each that was not merged; of most that are in vain sieves spare
    it that.
    """
    family.set_compaction_style(DBCompactionStyle.universal())
    # Not also with one that is as large as all of them together, nor all files whenever the newer
    # ones are twice as large as the oldest, as are the defaults: that is more work in all, and a
    # large family would be busy with it for a minute. What was rewritten or deleted meanwhile takes
    # room for longer; hardly any row is.
    styles: Any = UniversalCompactionStopStyle  # its stub asks for an object, and promises None
    alike = UniversalCompactOptions()
    alike.stop_style = styles.similar()
    alike.size_ratio = _LIKE_PERCENT
    alike.max_size_amplification_percent = _SURPLUS_PERCENT
    family.set_universal_compaction_options(alike)
    # What finds no level free goes to the first one, where it stays a single file, with a filter as
    # large as a part of the cache; so does what is merged while older files still are.
    family.set_num_levels(_LEVELS)
    family.set_target_file_size_base(_FILE_BYTES)
    family.set_level_zero_file_num_compaction_trigger(_FILES_MERGED)
    # More may come meanwhile: merging all takes longer and longer, and a write that is held up
    # until it is done is slower than a look into more files.
    family.set_level_zero_slowdown_writes_trigger(_FILES_MAX)
    family.set_level_zero_stop_writes_trigger(_FILES_MAX * 3 // 2)


def _blocks(cache: Cache, in_small_parts: bool) -> BlockBasedOptions:
    blocks = BlockBasedOptions()
    blocks.set_block_cache(cache)
    blocks.set_block_size(_BLOCK_BYTES)
    blocks.set_format_version(5)
    blocks.set_bloom_filter(10, False)
    if in_small_parts:
        # Whole filters are asked in two thirds of the time, but where the cache cannot hold all of
        # them they drive one another out, and each look-up reads megabytes.
        blocks.set_index_type(BlockBasedIndexType.two_level_index_search())
        blocks.set_partition_filters(True)
        blocks.set_metadata_block_size(_PART_BYTES)
        blocks.set_pin_top_level_index_and_filter(True)
    blocks.set_cache_index_and_filter_blocks(True)
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(True)
    return blocks
