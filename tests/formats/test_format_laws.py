"""What holds for every format."""

import gzip
import io
import re
import sys
from types import SimpleNamespace

import pytest

from formats.samples import SAMPLES
from fuzzing import check_round_trip, fuzz_formats
from maximand.formats import FormatError
from thinning import EVERYTHING


@pytest.fixture(params=SAMPLES)
def sample(request):
    return SAMPLES[request.param]


@pytest.fixture
def record(sample):
    return sample.read(io.StringIO(sample.text))


def test_what_is_written_reads_back_equal(sample, record):
    check_round_trip(sample, record)


def test_every_source_is_read_alike(sample, record, tmp_path, monkeypatch):
    data = sample.text.encode()
    plain, packed = tmp_path / "plain", tmp_path / "packed.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    assert sample.read(plain) == sample.read(str(packed)) == record
    assert sample.read(io.BytesIO(data)) == sample.read(io.BytesIO(gzip.compress(data))) == record
    assert sample.read(io.BytesIO(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))) == record
    with open(plain, encoding="utf-8") as file:
        assert sample.read(file) == record
        assert not file.closed
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert sample.read("-") == record


def test_every_target_is_written_alike(sample, record, tmp_path, capsys):
    plain, packed, binary, text = tmp_path / "plain", tmp_path / "packed.gz", io.BytesIO(), io.StringIO()
    for target in (plain, str(packed), binary):
        sample.write(record, target)
    assert plain.read_bytes() == gzip.decompress(packed.read_bytes()) == binary.getvalue()
    sample.write(record, text)
    assert text.getvalue() == binary.getvalue().decode()
    sample.write(record, "-")
    assert capsys.readouterr().out == text.getvalue()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["packed.gz", "plain"]


def test_damage_that_any_format_must_notice(sample):
    data = sample.text.encode()
    middle = data.index(b"\n") + 1
    for piece, word in [(b"a\0b\n", "NUL"), (b"a\rb\n", "carriage")]:
        with pytest.raises(FormatError, match=rf"input, line 2: .*{word}"):
            sample.read(io.BytesIO(data[:middle] + piece + data[middle:]))
    packed = gzip.compress(data)
    for broken in (packed[:-9], packed[:14], packed + b"rest"):
        with pytest.raises(FormatError, match="gzip"):
            sample.read(io.BytesIO(broken))
    with pytest.raises(FormatError):
        sample.read(io.BytesIO(packed[:20] + bytes([packed[20] ^ 255]) + packed[21:]))


def test_other_encodings_are_refused(sample):
    last = sample.text.encode().rstrip(b"\n")
    with pytest.raises(FormatError, match=f"line {last.count(10) + 1}: "):
        sample.read(io.BytesIO(last + b"\xff\n"))


def test_empty_files_are_refused_or_hold_nothing(sample):
    try:
        record = sample.read(io.BytesIO(b""))
    except FormatError as error:
        assert error.line is None or error.line == 1
    else:
        check_round_trip(sample, record)


# What Python reads as 10, and no other program does: an underscore, and digits of other scripts.
PYTHON_ISMS = ["1_0", "\N{FULLWIDTH DIGIT ONE}\N{FULLWIDTH DIGIT ZERO}", "\N{ARABIC-INDIC DIGIT ONE}0"]


@pytest.mark.parametrize("text", PYTHON_ISMS)
def test_numbers_of_python_alone_are_no_numbers(sample, text):
    def read(number, match):
        try:
            return sample.read(io.StringIO(sample.text[: match.start()] + number + sample.text[match.end() :]))
        except FormatError:
            return None

    for match in re.finditer(r"-?\d+(\.\d+)?", sample.text):
        ten, other = read("10", match), read(text, match)
        ignored = ten == read("12", match)
        assert ignored or other is None or other != ten, f"{text} in place of {match}"


@pytest.mark.timeout(600)
def test_damaged_files_are_read_or_refused():
    summary = fuzz_formats(10_000 if EVERYTHING else 12, seed=0)
    assert not summary.failures, summary.failures[0]
    assert summary.read > 30
    assert summary.refused > 100
