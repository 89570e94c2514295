"""Sources and targets: limits, messages, and files that are replaced in one step."""

import gzip
import io
import os
import pickle

import pytest

from maximand import formats
from maximand.formats import sources

ROWS = formats.Sentence((("a", "N"), ("b", "V")))


def failing():
    yield ROWS
    raise RuntimeError("no more")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        formats.write_conll(failing(), path)
    with pytest.raises(RuntimeError):
        formats.write_conll(failing(), tmp_path / "new.gz")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_keeps_links_and_permissions(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    formats.write_conll([ROWS], link)
    assert link.is_symlink()
    assert path.read_text() == "a N\nb V\n\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_devices_are_written_to():
    formats.write_conll([ROWS], os.devnull)


def test_compressed_files_are_reproducible(tmp_path):
    for name in ("one.gz", "two.gz"):
        formats.write_conll([ROWS], tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_missing_files_are_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        formats.read_ordinal(tmp_path / "nowhere.csv")


def test_messages_name_the_file_as_given_and_survive_pickling(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text("1,1\nx,1\n")
    with pytest.raises(formats.FormatError) as caught:
        formats.read_ordinal(path)
    assert str(caught.value) == f"{path}, line 2: column 1 is 'x'; it must be a finite number."
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_text_that_swells_when_decompressed(monkeypatch):
    bomb = gzip.compress(b"1,1\n" * 500_000)
    with pytest.raises(formats.FormatError, match="line 250001: more than 1000000 bytes"):
        formats.read_ordinal(io.BytesIO(bomb), max_bytes=1_000_000)
    monkeypatch.setattr(sources, "MAX_LINE", 1000)
    with pytest.raises(formats.FormatError, match="line 2: more than 1000 bytes without a line end"):
        formats.read_ordinal(io.BytesIO(gzip.compress(b"1,1\n" + b"1" * 5000)))


def test_streams_hold_one_record_at_a_time():
    long = io.BytesIO(gzip.compress(b"a N\nb V\n\n" * 2000))
    assert sum(1 for _ in formats.read_conll(long, max_bytes=20)) == 2000
    with pytest.raises(formats.FormatError, match="line 5: more than 16 bytes"):
        list(formats.read_conll(io.BytesIO(gzip.compress(b"a N\n" * 100)), max_bytes=16))


def test_text_files_that_cannot_be_decoded(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("Zoë N\n".encode("latin-1"))
    with open(path, encoding="utf-8") as file, pytest.raises(formats.FormatError, match="line 1: wrong encoding"):
        list(formats.read_conll(file))
    with pytest.raises(formats.FormatError, match="line 1: byte 0xeb at position 3 is not utf-8"):
        list(formats.read_conll(path))
    assert next(formats.read_conll(path, encoding="latin-1")).column(0) == ("Zoë",)


def test_a_source_that_gives_single_bytes():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(1)

    assert len(list(formats.read_conll(Slow(gzip.compress(b"a N\n\nb V\n"))))) == 2
