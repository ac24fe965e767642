"""The machine, the interpreter and the libraries that are measured."""

import os
import platform
import sys
import sysconfig
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import stream_dedup
from benchmarks.records import Machine, Run

_LIBRARIES = (
    *("numpy", "numba", "msgspec", "rocksdict"),
    *("datasketch", "rensa", "gaoya", "simhash", "xxhash", "scipy"),
)


def this_run(module: str) -> Run:
    """Describe the run that starts now."""
    command = " ".join(["python -m", module, *sys.argv[1:]])
    date = datetime.now(UTC).date().isoformat()
    return Run(date, command, os.getloadavg()[0], _machine())


def resident_bytes() -> int:
    """Return the memory this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_bytes() -> int:
    """Return the most memory this process has had; `getrusage` would count its parent's."""
    return _told("status", "VmHWM") * 1024


def read_bytes() -> int:
    """Return what the disk had to read for this process; what lies in the system's cache is not."""
    return _told("io", "read_bytes")


def _told(file: str, name: str) -> int:
    """Return a number that the system tells of this process."""
    told = Path("/proc/self", file).read_text()
    return int(told.partition(f"\n{name}:")[2].split()[0])


def _machine() -> Machine:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)),
        memory_gib=memory / (1 << 30),
        system=f"{platform.system()} {platform.machine()}",
        python=f"{python}, {platform.python_compiler()}",
        python_build=_python_build(),
        versions={"stream_dedup": stream_dedup.__version__} | _versions(),
    )


def _cpu() -> str:
    """Return what the kernel calls the processor, and the widest vectors it has."""
    description = Path("/proc/cpuinfo")
    if not description.exists():
        return platform.processor()
    fields = dict[str, str]()
    for line in description.read_text().splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    flags = fields.get("flags", "").split()
    vectors = next((flag for flag in ("avx512f", "avx2", "sse4_2") if flag in flags), "no AVX")
    family = f"family {fields.get('cpu family', '?')}, model {fields.get('model', '?')}"
    return f"{fields.get('model name', platform.machine())} ({family}, {vectors})"


def _python_build() -> str:
    """Tell how the interpreter was optimised."""
    names = ("CONFIG_ARGS", "PY_CFLAGS", "PY_CORE_CFLAGS", "PY_CORE_LDFLAGS", "PY_LDFLAGS")
    flags = " ".join(str(sysconfig.get_config_var(name)) for name in names)
    profiled = "--enable-optimizations" in flags or "-fprofile-use" in flags
    linked = "--with-lto" in flags or "-flto" in flags
    level = next((word for word in reversed(flags.split()) if word.startswith("-O")), "-O?")
    return (
        f"{'with' if profiled else 'without'} profile-guided optimisation, "
        f"{'with' if linked else 'without'} link-time optimisation, {level}"
    )


def _versions() -> dict[str, str]:
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
