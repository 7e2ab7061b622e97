"""Readers of files, a small valid sample of each one's files, and damage done to them."""

import os
import re
import resource
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from nt2vr.errors import CheckpointError, Nt2vrError
from nt2vr.progress import Progress

MAX_S, MAX_BYTES = 2.0, 300 << 20  # of reading one file
SAMPLE = "sample"
Read = Callable[[Path], object]

TOKEN = re.compile(rb'"[^"\n]*"|-?\d+(?:\.\d+)?|true|false|null|\[|\{')
HOSTILE = (
    b"[" * 50_000,
    b'{"a":' * 50_000,
    b"9" * 5_000,
    b"Infinity",
    b"-1",
    b"1e400",
    b"NaN",
    b"null",
    b'"\\ud800"',
    b'"\xed\xa0\x80"',
    b"[]",
    b"{}",
    b'""',
    b'"\\u0000"',
    b'"~nobody/x"',
    b'"' + b"x" * 1_000_000 + b'"',
    b"2147483648",
    b"1000000000000",
    b'"../../../../etc/passwd"',
    b"true",
    b"[[[]]]",
    b'{"a": {"b": 1}}',
    b"0",
)


def damaged(content: bytes, random: Random) -> bytes:
    """Truncate, overwrite, repeat, drop or put hostile values into a file's content."""
    size = len(content)
    start = random.randrange(size + 1)
    end = min(size, start + random.choice((1, 4, 64, 4096)))
    tokens = [match.span() for match in TOKEN.finditer(content[:100_000])]
    if tokens and random.random() < 0.6:
        start, end = random.choice(tokens)
        return content[:start] + random.choice(HOSTILE) + content[end:]
    kind = random.randrange(6)
    if kind == 0:
        return content[:start]
    if kind == 1:
        return content[:start] + random.randbytes(end - start) + content[end:]
    if kind == 2:
        return content[:start] + content[end:]
    if kind == 3:
        return content[:end] + content[start:end] * 100 + content[end:]
    if kind == 4:
        return content[:start] + b"\xff\xff\xff\xff" + content[start + 4 :]
    return random.choice((b"", b"\0" * size, random.randbytes(200)))


def checkpoint(folder: Path) -> Read:
    """Damage everything but the configuration, whose sizes only the limits of a trial bound."""
    from nt2vr.models.card import CONFIG  # noqa: PLC0415
    from nt2vr.models.checkpoint import read_checkpoint  # noqa: PLC0415
    from tests.tiny import write_tiny  # noqa: PLC0415

    write_tiny(folder / "tiny")
    (folder / "tiny" / CONFIG).chmod(0o444)
    return lambda place: read_checkpoint(place / "tiny", verify=True).encode_text(["a dog"])


def tokenizer(folder: Path) -> Read:
    from nt2vr.hub.verify import TRIED, _check_tokenizer  # noqa: PLC0415
    from nt2vr.models.tokenizer import load_tokenizer  # noqa: PLC0415
    from tests.families import FAMILIES, write_tokenizer  # noqa: PLC0415

    family = FAMILIES["SigLIP"]
    write_tokenizer(folder, family)
    text_cfg = family.model_cfg["text_cfg"]

    def read(place: Path) -> object:
        try:
            _check_tokenizer(place)
        except Exception as error:  # as `verify` does
            raise CheckpointError("The checkpoint cannot be used.") from error
        return load_tokenizer(place, text_cfg)(TRIED)

    return read


def embeddings(folder: Path) -> Read:
    from nt2vr.models.precomputed import SMALL_BYTES, read_embeddings  # noqa: PLC0415

    rows = np.eye(3, 4)
    names = np.array(["a", "b", "c"])
    np.savez_compressed(folder / "e.npz", False, video_ids=names, videos=rows, queries=names, texts=rows)
    return lambda place: read_embeddings(place / "e.npz", SMALL_BYTES)


def gallery(folder: Path) -> Read:
    from nt2vr.media.gallery import load_gallery  # noqa: PLC0415

    line = '{"video_id": "a", "path": "a.png", "captions": ["a dog"], "scene": {"n": 1}}'
    (folder / "g.jsonl").write_text("\n".join((line, line.replace('"a', '"b'))))
    return lambda place: load_gallery(place / "g.jsonl")


def table(folder: Path) -> Read:
    from nt2vr.datasets.load import load_dataset  # noqa: PLC0415

    (folder / "captions.csv").write_text('video_id,caption,split\na,a dog,train\nb,"a cat, asleep",test\n')
    for name in "ab":
        (folder / f"{name}.mp4").touch(0o444)
    return load_dataset


def manifest(folder: Path) -> Read:
    from nt2vr.datasets.load import load_dataset  # noqa: PLC0415

    gallery(folder)
    for name in "ab":
        (folder / f"{name}.png").touch(0o444)
    return load_dataset


def query_sets(folder: Path) -> Read:
    from nt2vr.negation.generate.composer import ComposedQuery  # noqa: PLC0415
    from nt2vr.negation.generate.query_sets import Caption, QuerySets, read_any_captions  # noqa: PLC0415

    captions = (Caption("a#enc#0", "a dog"), Caption("b#enc#0", "a cat"))
    QuerySets(captions, captions, (ComposedQuery("a dog and not a cat", "a dog", "a cat", ("a",), (), ()),)).write(
        folder
    )

    def read(place: Path) -> object:
        for path in sorted(place.iterdir()):
            try:
                read_any_captions(path)
            except Nt2vrError:
                continue
        return QuerySets.read(place)

    return read


def report(folder: Path) -> Read:
    from nt2vr.evaluation.reports.archive import Archive  # noqa: PLC0415
    from nt2vr.evaluation.reports.review import Remark  # noqa: PLC0415
    from nt2vr.search.systems import System  # noqa: PLC0415
    from nt2vr.ui.evaluate.view import report_view, reports_view  # noqa: PLC0415
    from tests.unit.evaluation.words import report_of  # noqa: PLC0415

    archive = Archive(folder / "reports")
    report_id = archive.add(report_of(System("words"), System("words", "drop")))
    archive.annotate(report_id, 1, Remark("misread", "a note"))

    def read(place: Path) -> object:
        archive = Archive(place / "reports")
        entries = archive.entries()
        assert [entry.report_id for entry in entries] == [report_id]
        reports_view(entries, "")
        archive.remarks(report_id)
        return report_view(archive.load(report_id), report_id, archive.files(report_id))

    return read


def library(folder: Path) -> Read:
    from nt2vr.library.inventory import LibraryFile  # noqa: PLC0415
    from nt2vr.library.libraries import Libraries  # noqa: PLC0415
    from nt2vr.media.probe import Probe  # noqa: PLC0415

    libraries = Libraries(folder / "libraries")
    found = libraries.add("films", "uploads")
    inventory = libraries.inventory(found.id)
    inventory.apply([LibraryFile("a.mp4", "/a.mp4", '["a dog"]', 5, 6)], [], [])
    inventory.put_probes({"a.mp4": (Probe("video", 30.0, 300, "0" * 32), 3)})

    def read(place: Path) -> object:
        libraries = Libraries(place / "libraries")
        infos = [info.as_dict() for info in libraries.infos()]
        return infos, [(libraries.gallery(info["id"]), libraries.skipped(info["id"])) for info in infos]

    return read


def run(folder: Path) -> Read:
    from trainer.config_file import load_config  # noqa: PLC0415
    from trainer.runs.metrics import MetricsReader  # noqa: PLC0415
    from trainer.runs.run_folder import RunFolder  # noqa: PLC0415

    (folder / "config.json").write_text('{"seed": 3, "epochs": 2, "batch_size": 8, "data": "world", "losses": {}}')
    (folder / "status.json").write_text('{"schema": 1, "state": "running", "epoch": 1, "step": 5}')
    (folder / "metrics.jsonl").write_text('{"epoch": 1, "step": 5, "loss": 0.5}\n' * 3)

    def read(place: Path) -> object:
        run = RunFolder(place)
        return MetricsReader(run.metrics).rows(), run.status(), load_config(run.config)

    return read


def rows(folder: Path) -> Read:
    from nt2vr.media.row_file import RowFile  # noqa: PLC0415

    RowFile(folder, "frames", np.float32, 1).append(["a", "b"], np.ones((2, 4), np.float32))

    def read(place: Path) -> object:
        found = RowFile(place, "frames", np.float32, 1)
        return found.find(["a"]), found.rows().sum()

    return read


def picture(folder: Path) -> Read:
    from nt2vr.media.picture import read_picture  # noqa: PLC0415

    noise = np.random.default_rng(0).integers(0, 255, (48, 64, 3), np.uint8)
    for suffix in ("png", "jpg", "webp", "gif", "bmp", "tif"):
        Image.fromarray(noise).save(folder / f"a.{suffix}")

    def read(place: Path) -> object:
        for path in sorted(place.iterdir()):
            read_picture(path)
        return None

    return read


READERS: dict[str, Callable[[Path], Read]] = {
    each.__name__: each
    for each in (
        checkpoint,
        tokenizer,
        embeddings,
        gallery,
        table,
        manifest,
        query_sets,
        report,
        library,
        run,
        rows,
        picture,
    )
}


def try_all(name: str, seeds: int, _: Progress) -> list[str]:
    """Read damaged files in this process, and say what was neither a value nor an Nt2vrError, or took too much."""
    problems = []
    with TemporaryDirectory() as home:
        sample = Path(home) / SAMPLE
        sample.mkdir()
        read = READERS[name](sample)
        read(sample)  # imports
        targets = [path.relative_to(sample) for path in sorted(sample.rglob("*")) if _is_target(path)]
        before = peak_bytes()
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + 4 * MAX_BYTES,) * 2)  # none stops the machine
        for seed in range(seeds):
            random = Random(f"{name} {seed}")
            place = Path(home) / str(seed)
            shutil.copytree(sample, place)
            target = place / random.choice(targets)
            target.write_bytes(damaged(target.read_bytes(), random))
            start_s = time.process_time()
            try:
                read(place)
            except Nt2vrError as error:
                if "\n" in str(error):
                    problems.append(f"{seed} {target.name}: of several lines: {str(error)[:300]}")
            except BaseException as error:
                problems.append(f"{seed} {target.name}: {type(error).__name__}: {str(error)[:300]}")
            if (took_s := time.process_time() - start_s) > MAX_S:
                problems.append(f"{seed} {target.name}: took {took_s:.1f} s")
            if (took := peak_bytes() - before) > MAX_BYTES:
                problems.append(f"{seed} {target.name}: took {took >> 20} MB")
                before += took
            shutil.rmtree(place)
    return problems


def _is_target(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_mode & 0o200) and path.name not in ("lock", ".lock")


def peak_bytes(pid: int = 0) -> int:
    """Return the most memory that a process has held, so far."""
    return _status("VmHWM", pid)


def data_bytes() -> int:
    return _status("VmData", 0)


def _status(key: str, pid: int) -> int:
    text = Path(f"/proc/{pid or os.getpid()}/status").read_text()
    return int(re.search(rf"{key}:\s+(\d+)", text)[1]) << 10  # type: ignore[index]
