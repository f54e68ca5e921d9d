#!/usr/bin/python3
"""Tables of results: every key of JSON and CSV is explained in share/doc/, and both have the same values.

    columns.py RUBATO
"""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

rubato = pathlib.Path(sys.argv[1]).resolve()
documents = pathlib.Path(__file__).resolve().parents[2] / "share" / "doc"
directory = tempfile.TemporaryDirectory()

TRACE = """nodes 0 0 1 1 2 2 3 3
""" + "".join(f"""{rank}: 0..10 init
{rank}: 10..{500 + 10 * rank} function solve
{rank}: 600..610 isend {(rank + 1) % 8} 64KiB req 1
{rank}: 620..900 recv {(rank - 1) % 8} 64KiB
{rank}: 910..920 wait 1
{rank}: 1000..2000 allreduce 8B 8B
{rank}: 2100 end
""" for rank in range(8))
(pathlib.Path(directory.name) / "run.txt").write_text(TRACE)


def run(*words):
    done = subprocess.run([rubato, *words], cwd=directory.name, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def keys_of(value):
    """The keys of all rows: of objects in lists."""
    if isinstance(value, list):
        rows = [each for each in value if isinstance(each, dict)]
        return {key for row in rows for key in row} | {key for each in value for key in keys_of(each)}
    return {key for each in value.values() for key in keys_of(each)} if isinstance(value, dict) else set()


def section(command):
    """What json.md says of a command."""
    return re.search(rf"^## `rubato {command} --json`.*?(?=^## )", (documents / "json.md").read_text(),
                     re.MULTILINE | re.DOTALL)[0]


def explained(key, text):
    return re.search(rf'[`",.]{re.escape(key)}[`",\[]', text)


def check(command, text, *words):
    data = json.loads(run(command, "run.txt", *words, "--json", "-"))
    keys = keys_of(data)
    unexplained = sorted(key for key in keys if not explained(key, text))
    assert keys and not unexplained, (command, unexplained)
    print(f"{command}: {len(keys)} keys are explained")
    return data


def same(command, rows, *words):
    """The rows of CSV have the values of `rows`; numbers are written such that they are the same when read."""
    lines = list(csv.DictReader(io.StringIO(run(command, "run.txt", *words, "--csv", "-"))))
    assert len(lines) == len(rows) > 0
    for line, row in zip(lines, rows):
        for key, cell in line.items():
            assert key.startswith("factor_") or explained(key, section(command)), (command, key)
            value = row[key.removesuffix("_s")]
            assert cell == ("" if value is None else value) or float(cell) == value, (command, key, cell, value)
    print(f"{command}: CSV has the {len(lines)} rows of JSON")


NETWORK = ("--on", "infiniband-hdr")
SHAPE = ("--on", "infiniband-hdr:network=dragonfly")
replay, own = ((documents / f"schemas/{name}.schema.json").read_text() for name in ("replay", "profile"))
check("replay", replay, *NETWORK, "--sweep", "latency=1..10/3")
check("profile", own + replay, *NETWORK)  # (findings and the trace are those of replay)
check("advise", section("advise"), *NETWORK)
for network in (NETWORK, SHAPE):
    place = check("place", section("place"), *network)
    same("place", [row | {"no_conclusion": place["no_conclusion"]} for row in place["placements"]], *network)
tolerance = check("tolerance", section("tolerance"), *NETWORK, "--percent", "1,2.5")
numbers = tolerance["numbers"]
for number in numbers:
    number["no_conclusion"] = tolerance["no_conclusion"]
    number.update({f"factor_{each['percent']:g}": each["factor"] for each in number["thresholds"]})
same("tolerance", numbers, *NETWORK, "--percent", "1,2.5")
