"""Damaged files for every reader: each must be read or refused, soon, in little memory, and never break a reader.

`python tests/fuzzing.py formats 10000` runs that many for each reader under a limit of memory and prints what happened.
"""

import argparse
import gzip
import io
import random
import re
import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from formats.samples import SAMPLES, Sample
from maximand.formats import FormatError

NUMBERS = [
    b"1000000000000", b"-1", b"0", b"nan", b"inf", b"-inf", b"1e308", b"1e999", b"9" * 30, b"2147483647", b"2147483648",
    b"4294967296", b"1_0", b"0x10", b"1.5", b"-0", b"",
]  # fmt: skip
PIECES = [
    b"\0", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b" ", b",", b":", b"#", b"%", b"'", b'"', b"\\", b"{", b"}", b"<",
    b">", b"(", b"]", b"?", b"-", b"1-2", b"1.1", b"@data\n", b"//\n", b"qid:", b"&b;",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\x1f\x8b",
    "\u00b2".encode(), "\u2028".encode(), "\u00a0".encode(),
]  # fmt: skip


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return the data after one to four accidents."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        data = rng.choice(ACCIDENTS)(data, rng)
    return data


def flip_bit(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def delete(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:start] + data[stop:]


def insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(PIECES) * rng.choice([1, 1, 1, 2, 50]) + data[at:]


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def repeat(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:stop] + data[start:stop] * rng.choice([1, 1, 2, 100]) + data[stop:]


def swap_number(data: bytes, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data))
    if not found:
        return data
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(NUMBERS) + data[match.end() :]


def shuffle_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    start = rng.randint(0, len(lines))
    part = lines[start : start + rng.choice([2, 3, 1000])]
    rng.shuffle(part)
    return b"".join(lines[:start] + part + lines[start + len(part) :])


ACCIDENTS = [flip_bit, delete, insert, truncate, repeat, swap_number, swap_number, shuffle_lines]


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice([1, 1, 2, 5, 20, 200]))


@dataclass
class Summary:
    """What became of the damaged files; a failure is anything but a record that can be written again, or an error."""

    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


def damaged(sample: Sample, rng: random.Random) -> bytes:
    """Return a damaged file, now and then compressed before or after the damage."""
    text = sample.text.encode()
    chance = rng.random()
    if chance < 0.1:
        return mutate(gzip.compress(text, mtime=0), rng)
    text = mutate(text, rng)
    return gzip.compress(text, mtime=0) if chance < 0.2 else text


def fuzz_formats(count: int, seed: int, seconds: float = 5.0) -> Summary:
    """Read so many damaged files of each format, of all formats in turn."""
    summary, rng, names = Summary(), random.Random(seed), list(SAMPLES)
    for sample in SAMPLES.values():  # so that all modules are there
        sample.read(io.BytesIO(sample.text.encode()))
    for i in range(count * len(names)):
        name = names[i % len(names)]
        sample, data = SAMPLES[name], damaged(SAMPLES[name], rng)
        start = time.process_time()
        try:
            with limited(seconds):
                record = sample.read(io.BytesIO(data))
            summary.read += 1
            check_round_trip(sample, record)
        except FormatError as error:
            summary.refused += 1
            assert str(error)
        except Exception:
            summary.failures.append(f"{name}, file {i}: {data[:3000]!r}\n{traceback.format_exc(limit=-3)}")
        finally:
            summary.slowest = max(summary.slowest, time.process_time() - start)
    return summary


def check_round_trip(sample: Sample, record: object) -> None:
    """What was read must be written, and read back equal."""
    written = io.BytesIO()
    sample.write(record, written)
    try:
        again = sample.read(io.BytesIO(written.getvalue()))
    except FormatError as error:
        raise AssertionError(f"what was written is refused: {error}") from None
    assert again == record, "what was written reads back otherwise"


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Fail where what is inside takes more seconds of this process, whatever else runs on the machine."""
    before = signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def too_slow(signum: int, frame: object) -> None:
    raise TimeoutError("it takes too long")


def main() -> int:
    import resource  # not on every system, nor needed to damage files

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["formats"])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("error")
    with open("/proc/self/statm") as file:
        base = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (base + (1 << 30),) * 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    summary = fuzz_formats(options.count, options.seed)
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    for failure in summary.failures[:5]:
        print(failure)
    print(
        f"{options.count} files for each of {len(SAMPLES)} readers in {time.perf_counter() - start:.1f} s: "
        f"{summary.read} read, {summary.refused} refused, {len(summary.failures)} failures; "
        f"slowest parse {summary.slowest * 1e3:.1f} ms, peak memory grew by {growth / 1024:.1f} MiB"
    )
    return bool(summary.failures)


if __name__ == "__main__":
    raise SystemExit(main())
