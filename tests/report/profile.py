#!/usr/bin/python3
"""rubato profile: its formats agree, sums add up, the examples of share/doc/profile.md print the documented output,
and JSON satisfies share/doc/schemas/profile.schema.json.

    profile.py RUBATO
"""
import csv
import io
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

rubato = pathlib.Path(sys.argv[1]).resolve()
documents = pathlib.Path(__file__).resolve().parents[2] / "share" / "doc"
page = (documents / "profile.md").read_text()
directory = tempfile.TemporaryDirectory()
here = pathlib.Path(directory.name)


missing = []  # what could not be tested


def profile(*words, code=0):
    run = subprocess.run([rubato, "profile", *words], cwd=here, capture_output=True, text=True)
    assert run.returncode == code, (words, run.returncode, run.stderr)
    return run.stderr if code else run.stdout


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def total(rows, kind, **cells):
    values = [float(row["value"]) for row in rows
              if row["kind"] == kind and all(row[key] == str(cell) for key, cell in cells.items())]
    return math.fsum(values)


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)


def same_in_all(archive, *words):
    """CSV and JSON of an archive say the same; sums add up."""
    rows = rows_of(profile(archive, *words, "--csv", "-"))
    data = json.loads(profile(archive, *words, "--json", "-"))
    for scenario in data["scenarios"]:
        own = [row for row in rows if row["scenario"] == scenario["name"]]
        assert close(total(own, "elapsed"), scenario["elapsed"])
        if scenario["causes"]:
            path = scenario["causes"]["path"]
            assert close(path["elapsed"], scenario["elapsed"])
            assert close(total(own, "path"), scenario["elapsed"])
            # Every wait with a known cause has one direct cause, and its roots.
            assert close(total(own, "caused"), total(own, "root"))
            # Each wait has a place and a communicator.
            waits = math.fsum(math.fsum((call["waits"] or {}).values())
                              for rank in scenario["ranks"] for call in rank["calls"].values())
            assert close(total(own, "place_wait"), waits) and close(total(own, "communicator_wait"), waits)
            places = scenario["places"]
            assert close(waits, math.fsum(wait["time"] for wait in places["waits"]))
            assert close(total(own, "place_root"), math.fsum(cause["time"] for cause in places["causes"]))
            # All time of ranks is in some function, or outside of functions.
            for function in scenario["functions"]:
                for key, kind in (("compute", "function_compute"), ("mpi", "function_mpi"), ("waits", "function_wait")):
                    assert close(math.fsum(function[key]), total(own, kind, name=function["place"])), (archive, kind)
            if scenario["functions"]:
                for rank in scenario["ranks"]:
                    assert close(total(own, "function_mpi", rank=rank["rank"]), rank["mpi"]), archive
                    assert close(total(own, "function_compute", rank=rank["rank"]), rank["compute"] + rank["overhead"])
        for rank in scenario["ranks"]:
            number = rank["rank"]
            assert close(total(own, "time", rank=number), rank["threads"] * scenario["elapsed"]), (archive, number)
            for name, call in rank["calls"].items():
                for key in ("calls", "time", "outside", "sends", "bytes_sent", "receives", "bytes_received",
                            "bytes_completed"):
                    assert close(total(own, key, rank=number, name=name), call[key]), (archive, number, name, key)
                for kind, seconds in (call["waits"] or {}).items():
                    assert close(total(own, kind, rank=number, name=name), seconds)
                assert sum((call["waits"] or {}).values()) <= call["time"] * (1 + 1e-9) + 1e-15
                for key in ("sends", "bytes_sent", "receives", "bytes_received"):
                    assert sum(size[key] for size in call["sizes"]) == call[key]
            for key, kind in (("size", "matrix_size"), ("requests", "matrix_request"), ("time", "matrix_time")):
                assert close(total(own, kind, rank=number), sum(peer[key] for peer in rank["peers"]))
        # Every number of a call has its documentation.
        for call in [*scenario["calls"].values(), *(call for rank in scenario["ranks"] for call in rank["calls"].values())]:
            for key in call:
                assert f"`{key}`" in page or f"`{key}[]`" in page, key
        for name, call in scenario["calls"].items():
            for key in ("calls", "sends", "bytes_sent", "receives", "bytes_received", "bytes_completed", "time"):
                assert close(call[key], sum(rank["calls"].get(name, {key: 0})[key] for rank in scenario["ranks"]))
    return data


def examples():
    (here / "run.txt").write_text(blocks("trace")[0])
    profile("run.txt", "--csv", "run.csv", "--json", "run.json")
    outputs = blocks("output")
    *python_outputs, jq_output = outputs
    for tool, kind, expected in (("jq", "jq", [jq_output]), ("pandas", "python", python_outputs)):
        code = blocks(kind)
        if tool == "jq":
            command = ["bash", "-euo", "pipefail", "-c", code[0]]
            known = subprocess.run(["bash", "-c", "type jq"], capture_output=True).returncode == 0
        else:
            command = ["/usr/bin/python3", "-c", "".join(code)]
            known = subprocess.run(["/usr/bin/python3", "-c", "import pandas"], capture_output=True).returncode == 0
        if not known:
            missing.append(f"{tool} is not installed: its examples were not run")
            continue
        run = subprocess.run(command, cwd=here, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert run.stdout == "".join(expected), f"{tool} prints\n{run.stdout}instead of\n{''.join(expected)}"
        print(f"the examples for {tool} print the output in profile.md")


def schema(data, break_it=True, rules_of="profile", changes=()):
    try:
        import jsonschema
    except ImportError:
        missing.append("python3-jsonschema is not installed: no schema was checked")
        return
    rules = json.loads((documents / f"schemas/{rules_of}.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(rules)
    jsonschema.validate(data, rules)
    if not break_it:
        return
    # It has teeth.
    for change in changes or (
                   lambda d: d.pop("scenarios"), lambda d: d["scenarios"][0]["ranks"][0].pop("peers"),
                   lambda d: d["scenarios"][0]["ranks"][0]["calls"]["MPI_Send"].pop("bytes_sent"),
                   lambda d: d["scenarios"][0]["nodes"][0].update(receives="1")):
        changed = json.loads(json.dumps(data))
        change(changed)
        try:
            jsonschema.validate(changed, rules)
        except jsonschema.ValidationError:
            continue
        raise AssertionError("the schema lets through what it must refuse")


def many_ranks():
    """A ring of 40 ranks: 20 lines of text, whole tables with --all."""
    text = ""
    for rank in range(40):
        text += (f"{rank}: 0..0 init\n{rank}: 10..11 isend {(rank + 1) % 40} {rank + 1}B req 1\n"
                 f"{rank}: 11..20 recv {(rank - 1) % 40} {(rank - 1) % 40 + 1}B\n{rank}: 20..21 wait 1\n"
                 f"{rank}: 30..31 finalize\n")
    (here / "ring.txt").write_text(text)
    short = profile("ring.txt")
    assert len(short.splitlines()) <= 20 and "bytes sent" not in short, short
    whole = profile("ring.txt", "--all")
    assert "40 ranks" not in whole.split("\n", 1)[1]
    assert re.search(r"^39 +40$", whole, re.MULTILINE)
    assert len(re.findall(r"^\d+ +\d+ +\d+ +1 +9$", whole, re.MULTILINE)) == 40
    return same_in_all("ring.txt", "--on", "measured", "--on", "perfect")


def deadlock():
    """Two synchronous sends to each other, which the recording survived as they were eager."""
    (here / "stuck.txt").write_text("0: 0..1 send 1 1MiB\n0: 1..2 recv 1 1MiB\n1: 0..1 send 0 1MiB\n1: 1..2 recv 0 1MiB\n")
    (here / "rendezvous.toml").write_text(
        'format = 1\n[level.node]\ntransfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]\n'
        'protocol = [ { from = "0B", kind = "eager" }, { from = "1KiB", kind = "async" } ]\n')
    words = ["stuck.txt", "--on", "rendezvous.toml", "--on", "measured"]
    text = profile(*words, "--all")
    assert "deadlock" in text and "measured: bytes sent" in text, text
    data = json.loads(profile(*words, "--json", "-"))
    assert data["scenarios"][0]["deadlock"] and data["scenarios"][0]["ranks"] == []
    assert {row["scenario"] for row in rows_of(profile(*words, "--csv", "-"))} == {"measured"}
    schema(data, break_it=False)


def names():
    """Names with quotation marks; a file is whole or not there."""
    rows = rows_of(profile("run.txt", "--on", 'perfect:name=a "free" net', "--csv", "-"))
    assert {row["scenario"] for row in rows} == {'a "free" net'}, rows[0]
    assert "nowhere.otf2dir" in profile("nowhere.otf2dir", "--csv", "new.csv", code=1)
    assert not (here / "new.csv").exists()


def stolen():
    """MPI_Recv takes 80 ns: 20 of a flush of the tracer, and 30 without a core. It waits for
    the message, so that it is as long in undisturbed, which keeps the 30 where it is asked to: they are no part of the
    call, nor of the time of its pair."""
    (here / "stolen.txt").write_text("0: 0..10 send 1 8B\n0: 100 end\n"
                                     "1: 10..90 recv 0 8B flushed 20 lost 30\n1: 100 end\n")
    data = same_in_all("stolen.txt", "--on", "measured", "--on", "undisturbed", "--keep-stolen")
    for scenario, inside in zip(data["scenarios"], (30e-9, 50e-9)):
        rank = scenario["ranks"][1]
        assert close(rank["calls"]["MPI_Recv"]["time"], inside) and close(rank["lost_core"], 30e-9), rank
        assert close(rank["peers"][0]["time"], inside), rank
    data = same_in_all("stolen.txt", "--on", "undisturbed")
    assert data["scenarios"][0]["ranks"][1]["lost_core"] == 0


def sums():
    """The file of sums of a run without an archive: one rank sends 3 messages of 4 bytes, and the other one receives them
    at two lines."""
    def rank(number, call, lines, peers, before):
        message = {"size": 4, "sends": 0, "bytes_sent": 0, "receives": 0, "bytes_received": 0}
        way = ("sends", "bytes_sent") if call == "MPI_Send" else ("receives", "bytes_received")
        calls = [{"call": call, "call_site": line, "calls": count, "calls_timed": count, "time": 0.125 * count,
                  "time_min": 0.125, "time_max": 0.125, "outside": 0, "bytes_completed": 0 if call == "MPI_Send" else 4 * count,
                  "waits": {"late_sender": 0, "late_receiver": 0.0625, "collective_wait": 0},
                  "sizes": [{**message, way[0]: count, way[1]: 4 * count}]} for line, count in lines]
        return {"rank": number, "threads": 1, "compute": 0.5, "flushing": 0, "not_recorded": 0, "lost_core": 0.125,
                "before": before, "after": 0.5 - before, "stopped": False,
                "left_out": {"pairs": 0, "messages": 0, "requests": 0, "sizes": 0}, "calls": calls, "peers": peers}
    run = {"kind": "rubato sums", "format": 1, "rubato": "0", "units": {"times": "s", "sizes": "B"}, "command": "./app",
           "mpi_library": "M", "summary": "2 ranks", "elapsed": 1.5, "call_sites": True, "waits_known": True,
           "sampled_one_of": 1,
           "ranks": [rank(0, "MPI_Send", [("a.c:3", 3)], [{"peer": 1, "size": 12, "requests": 3, "time": 0}], 0.5),
                     rank(1, "MPI_Recv", [("a.c:5", 1), ("a.c:6", 2)], [{"peer": 0, "size": 0, "requests": 0, "time": 0.375}], 0)]}
    schema(run, rules_of="sums", changes=(
        lambda d: d.pop("kind"), lambda d: d["ranks"][0].pop("left_out"), lambda d: d["ranks"][1]["calls"][0].update(calls=-1),
        lambda d: d["ranks"][0]["peers"][0].update(time="0 s")))
    (here / "sums.json").write_text(json.dumps(run))
    data = same_in_all("sums.json")
    [scenario] = data["scenarios"]
    assert scenario["calls"]["MPI_Recv"]["calls"] == 3 and data["trace"]["command"] == "./app", data
    assert [site["path"] for site in scenario["call_sites"]] == [["a.c:3"], ["a.c:6"], ["a.c:5"]], scenario["call_sites"]
    assert re.search(r"^0 +- +12$", profile("sums.json", "--all"), re.MULTILINE)  # SIZE(0, 1)
    assert profile("sums.json").startswith("sums.json: 2 ranks\n")
    assert "--on measured needs an archive" in profile("sums.json", "--on", "measured", code=2)
    assert "the file is of an older version" in profile("sums.json", "--on", "perfect", code=1)
    assert "--wildcards needs an archive" in profile("sums.json", "--wildcards", "arrival", code=2)
    assert "sums.json is an input file" in profile("sums.json", "--csv", "./sums.json", code=1)
    # With the calls of the run, in steps: rank 0 sends at 0.5, 1 and 1.5 s, rank 1 receives at once. On a machine with a
    # latency of 1 s and 4 bytes per second the last message is there at 1.5 + 1 + 1; then rank 1 takes 0.5.
    run["steps_one_of"] = 1
    message = "500000000 0 0 0 {}:0,{},7,4,0\n"
    for number, call, kind in ((0, "MPI_Send", "s"), (1, "MPI_Recv", "r")):
        line = f"{call} " + message.format(kind, 1 - number)
        if number == 1: line = line.replace("500000000", "0", 1)
        run["ranks"][number].update(node=0, steps=f"step 0 2000000000 500000000\ncomm 0 ab{' 0 1' if number == 0 else ''}\n" + 3 * line)
    (here / "steps.json").write_text(json.dumps(run))
    words = ["steps.json", "--on", "bandela:latency=1s,bandwidth=4B/s,name=slow"]
    networks = json.loads(profile(*words, "--json", "-"))["networks"]
    assert [(row["scenario"], row["half_width"]) for row in networks] == [("measured", None), ("slow", None)], networks
    assert close(networks[1]["elapsed"], 4) and close(networks[1]["vs_measured"], 4 / 1.5), networks
    rows = [row for row in rows_of(profile(*words, "--csv", "-")) if row["scenario"] == "slow"]
    assert [(row["kind"], float(row["value"])) for row in rows] == [("elapsed", 4)], rows
    schema(run, rules_of="sums", break_it=False)
    schema(json.loads(profile(*words, "--json", "-")), break_it=False)
    run["ranks"][0]["peers"][0]["peer"] = 7
    (here / "bad.json").write_text(json.dumps(run))
    assert "bad.json: the sums cannot be read: a rank has a peer that is no rank" in profile("bad.json", code=1)
    return data


def whole_or_nothing():
    """The second of two scenarios cannot be replayed: nothing of the first is printed."""
    (here / "node.toml").write_text('format = 1\n[level.node]\n'
                                    'transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]\n')
    (here / "apart.txt").write_text("nodes 0 1\n0: 0..1 send 1 8B\n0: 10 end\n1: 0..9 recv 0 8B\n1: 10 end\n")
    for words in (["--json", "-"], ["--csv", "-"], [], ["--json", "new.json"]):
        run = subprocess.run([rubato, "profile", "apart.txt", "--on", "measured", "--on", "node.toml", *words], cwd=here,
                             capture_output=True, text=True)
        assert run.returncode == 1 and run.stdout == "" and "level.network" in run.stderr, (words, run)
    assert not (here / "new.json").exists()


def order():
    """Rank 1 has the message 40 ns before it is sent: measured looks at clocks, perfect does not. What is said of the
    archive does not depend on which comes first."""
    (here / "clocks.txt").write_text("0: 50..60 send 1 8B\n0: 100 end\n1: 0..10 recv 0 8B\n1: 100 end\n")
    scenarios = (["--on", "perfect"], ["--on", "measured"])
    traces = [json.loads(profile("clocks.txt", *first, *second, "--json", "-"))["trace"]
              for first, second in (scenarios, scenarios[::-1])]
    assert traces[0] == traces[1] and traces[0]["clock_repair"], traces
    traces = [json.loads(profile("clocks.txt", *first, *second, "--clocks", "corrected", "--json", "-"))["trace"]
              for first, second in (scenarios, scenarios[::-1])]
    assert traces[0] == traces[1] and traces[0]["clock_violations"] == 1, traces
    for first, second in (scenarios, scenarios[::-1]):
        text = " ".join(profile("clocks.txt", *first, *second).split())
        assert text.count("moved calls of 1 rank later") == 1, text


def many_kinds():
    """All that is not a plain message, in each kind of scenario: recording that cost 2 ns a call, a core that was lost, a
    second thread, one-sided operations, collectives of several shapes, requests, waits."""
    (here / "kinds.txt").write_text("""
        nodes 0 0 1
        window 1
        0: 0..10 init
        1: 0..12 init
        2: 0..11 init
        0: 20..30 irecv 1 1KiB req 1
        0: 50..80 wait 1 lost 10
        1: 30..60 send 0 1KiB
        2: 15..16 local MPI_Comm_rank
        0: 82..90 win_fence
        1: 80..90 win_fence
        2: 85..90 win_fence
        0: 92..95 put 2 64B
        0: 100..108 win_fence
        1: 100..108 win_fence
        2: 96..108 win_fence
        0: 110..130 barrier
        1: 115..130 barrier
        2: 112..130 barrier flushed 5
        0: 140..160 allreduce 8B 8B
        1: 150..160 allreduce 8B 8B
        2: 155..160 allreduce 8B 8B
        0.1: 60..70 send 1 16B tag 3
        1.1: 65..75 recv 0 16B tag 3
        0: 200..210 finalize
        1: 190..210 finalize
        2: 200..210 finalize
    """)
    scenarios = ["--on", "measured", "--on", "undisturbed", "--on", "perfect", "--on", "infiniband-hdr"]
    schema(same_in_all("kinds.txt", *scenarios, "--overhead", "outside=2ns,before=1ns"), break_it=False)
    same_in_all("kinds.txt", *scenarios, "--keep-stolen", "--overhead", "none")


def main():
    examples()
    schema(same_in_all("run.txt"))
    many_ranks()
    deadlock()
    names()
    stolen()
    schema(sums(), break_it=False)
    whole_or_nothing()
    order()
    many_kinds()
    print("text, CSV and JSON say the same")
    if missing:
        print("skipped in part:", *dict.fromkeys(missing), sep="\n")
        sys.exit(77)


main()
