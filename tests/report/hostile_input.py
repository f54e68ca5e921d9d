#!/usr/bin/env python3
"""Malicious files: each is refused in one line, in little time and memory, and
nothing crashes: hostile_input.py RUBATO"""

import os
import resource
import signal
import subprocess
import sys
import tempfile

RUBATO = os.path.abspath(sys.argv[1])
TRACE = """nodes 0 1
0: 0..5 send 1 8B
0: 10 end
1: 0..7 recv 0 8B
1: 10 end
"""
PLATFORM = """format = 1
name = "made up"
[level.network]
transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
"""
failed = 0


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def complain(what):
    global failed
    failed += 1
    print(what)


def run(*words, **how):
    return subprocess.run([RUBATO, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, preexec_fn=limits, check=False,
                          errors="surrogateescape", **how)


def refused(text, *words, code=1):
    """One line with `text` in it, and that exit code."""
    result = run(*words)
    lines = result.stderr.splitlines()
    if result.returncode != code or len(lines) != 1 or text not in lines[0] or len(lines[0]) > 2000:
        complain(f"rubato {' '.join(words)[:200]}: exit code {result.returncode} instead of {code}, "
                 f"or no '{text}' in: {result.stderr[:500]}")


def accepted(*words):
    result = run(*words)
    if result.returncode != 0:
        complain(f"rubato {' '.join(words)[:200]}: exit code {result.returncode}: {result.stderr[:500]}")
    return result.stdout


def write(name, text):
    with open(name, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return name


def long_lines():
    # std::regex recurses for each character of a line, toml++ for each part of a key.
    title = "# OSU MPI Latency Test v5.9\n"
    refused("not output of", "import", write("a.txt", "a" * 60000 + "\n"), "-o", "a.toml")
    refused("no table of", "import", write("a.txt", title + " " * 60000 + "\n"), "-o", "a.toml")
    refused("a.txt:3: a row of 60002 characters", "import",
            write("a.txt", title + "# Size  Latency (us)\n" + "1" * 60000 + " 2\n"), "-o", "a.toml")
    refused("a.toml:2: a key of more than 16 parts", "replay", "t.txt", "--on",
            write("a.toml", "\n" + ".".join(["a"] * 40000) + " = 1\n"))
    refused("a.toml:1: a key of more than 16 parts", "replay", "t.txt", "--on",
            write("a.toml", "[" + ".".join(["a"] * 40000) + "]\n"))
    refused("exceeded maximum nested", "replay", "t.txt", "--on",
            write("a.toml", "a = " + "[" * 40000 + "]" * 40000 + "\n"))
    # Dots in text and comments are none of keys.
    dots = "." * 100
    accepted("replay", "t.txt", "--on", write(
        "a.toml", f"{PLATFORM}# {dots}\n[measured]\na = \"\\\"{dots}\"\nb = '{dots}'\n"
                  f"c = \"\"\"\n{dots} \" {dots}\"\"\"\n", ))
    refused("is larger than 16 MiB", "replay", "t.txt", "--on", "/dev/zero")
    refused("is a directory, not a platform file", "replay", "t.txt", "--on", ".")


def numbers_in():
    def platform(latency, bandwidth):
        return write("a.toml", PLATFORM.replace("1us", latency).replace("1GB/s", bandwidth))

    accepted("replay", "t.txt", "--on", platform("1us", "1B/s"))
    accepted("replay", "t.txt", "--on", platform("1000000s", "inf"))
    refused("a.toml:4: level.network.transfer 'latency': '1e300s' is longer", "replay", "t.txt",
            "--on", platform("1e300s", "1GB/s"))
    refused("is not a time", "replay", "t.txt", "--on", platform("nan us", "1GB/s"))
    refused("'1e-310B/s' is less than 1B/s", "replay", "t.txt", "--on", platform("1us", "1e-310B/s"))
    refused("from 1e-9 to 1e9", "replay", "t.txt", "--on", "bandela:latency*1e308", code=2)
    refused("factors of cpu", "replay", "t.txt", "--on", "measured:cpu*1e9,cpu*1e9", code=2)
    refused("'nan'", "replay", "t.txt", "--on", "measured:cpu*nan", code=2)
    accepted("replay", "t.txt", "--on", "bandela:latency=1us," + "bandwidth=1B/s" + ",latency*1e9")
    samples = "level,pattern,bytes,seconds_min\nnetwork,pingpong,{},{}\n"
    for size, time, why in (("8", "1e300", "up to a million seconds"), ("8", "nan", "expected a time"),
                            ("8", "-1", "expected a time"), ("1e30", "1", "not a valid number of bytes"),
                            ("nan", "1", "not a valid number of bytes")):
        refused(why, "fit", write("a.csv", samples.format(size, time)), "-o", "b.toml")
    refused("a.txt:3: a time of more than a million seconds", "import",
            write("a.txt", "# OSU MPI Latency Test\n# Size  Latency (us)\n1 1e17\n"), "-o", "b.toml")
    for word, why in (("nan", "not a number"), ("inf", "not a number"), ("-1", "count from 0"),
                      ("2147483647", "a million"), ("1e9", "a million"), ("1e400", "not a number")):
        refused("t2.txt:1: ", "info", write("t2.txt", f"{word}: 0..1 init\n"))
        refused(why, "info", "t2.txt")
    for line in ("0..1 send nan 8B", "0..1 send 1e300 8B", "nan..1 init", "0..inf init",
                 "0..1e300 init", "0..1 send 0 8B tag 1e10", "0..1 send 0 8B comm nan",
                 "0..1 isend 0 8B req -5", "0..1 wait 1e300", "0..1 send 0 1e30B",
                 "0..1 join 1e19", "0..1 bcast root 1e12 8B 8B", "0..1 put 0 8B win nan"):
        refused("t2.txt:1: ", "info", write("t2.txt", f"0: {line}\n"))
    refused("a rank may have 1024 threads", "info", write("t2.txt", "0.1000000: 0..1 init\n"))
    refused("rank 0 has a thread 1000, but thread 1 has no calls", "info",
            write("t2.txt", "0: 0..1 init\n0.1000: 0..1 init\n"))
    for line in ("comm nan 0", "comm 1e10 0", "sockets nan", "window nan", "nodes nan"):
        refused("t2.txt:1: ", "info", write("t2.txt", f"{line}\n0: 0..1 init\n"))


def hostile_strings():
    """Escapes of terminals, line ends and formulas in names do not get to where they act."""
    evil = "\x1b[2J\x9b\u009b\u202e\x7f"

    def plain(words, text):
        if any(ord(c) < 32 and c not in "\n\t" or 127 <= ord(c) < 160 or c == "\u202e" or
               0xDC80 <= ord(c) < 0xDD00 for c in text):
            complain(f"rubato {words}: {text!r}")

    write("e.toml", PLATFORM.replace("made up", "\\u001b[2J\\u009b\\n--x"))
    plain("replay --on e.toml", accepted("replay", "t.txt", "--on", "e.toml"))
    accepted("export", "e.toml", "-o", "e.xml")
    import xml.dom.minidom
    xml.dom.minidom.parse("e.xml")
    for words in (("replay", "t.txt", "--on", evil), ("info", evil), (evil,),
                  ("replay", "t.txt", "--on", write("a.toml", PLATFORM + f"'{evil[:-1]}' = 1\n")),
                  ("replay", "t.txt", "--on", write("a.toml", PLATFORM + "\"a\\nb\\u001b\" = 1\n")),
                  ("replay", "t.txt", "--on", "perfect:placement=file:" + write("h.txt", f"a {evil}\n")),
                  ("info", write("t2.txt", f"0: {evil}\n")),
                  ("compare", write("a.csv", f"level,pattern,bytes,seconds_min\n{evil},x,{evil},1\n"), "a.csv"),
                  ("import", write("a.txt", f"# OSU MPI Latency Test\n# Size  Latency (us)\n1 {evil}\n"),
                   "-o", "b.toml")):
        result = run(*words)
        plain(words, result.stderr)
        if result.returncode not in (1, 2) or len(result.stderr.splitlines()) != 1:
            complain(f"rubato {words}: {result.returncode} {result.stderr!r}")
    write("f.csv", "level,pattern,bytes,seconds_min\n=1+1,x,8,1\n")
    for text in (accepted("compare", "f.csv", "f.csv", "--csv", "-"), ):
        if "\n'=1+1 x,8," not in text:
            complain(f"a formula: {text}")
    # The locale C: ASCII, but data as they are.
    env = {**os.environ, "LC_ALL": "C"}
    text = run("replay", "t.txt", "--on", "bandela:latency=3us,name=\u00b5", env=env)
    if text.returncode or not text.stdout.isascii():
        complain(f"LC_ALL=C: {text.stdout}")
    data = run("replay", "t.txt", "--on", "bandela:latency=3us,name=\u00b5", "--json", "-", env=env)
    if "\u00b5" not in data.stdout:
        complain("LC_ALL=C --json")


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        write("t.txt", TRACE)
        for part in (long_lines, numbers_in, hostile_strings):
            part()
        os.chdir("/")
    if failed:
        sys.exit(f"{failed} failed")
    print("hostile input is refused")


main()
