#!/bin/sh
# numba reads compiled kernels only from a directory that it may write to as well. Those of the image
# are copied to one: else each start would compile for some seconds.
set -eu
mkdir -p "$NUMBA_CACHE_DIR"
cp -R "$STREAM_DEDUP_KERNELS/." "$NUMBA_CACHE_DIR" ||
    echo "the kernels of the image cannot be copied to $NUMBA_CACHE_DIR: they are compiled anew" >&2
exec "$@"
