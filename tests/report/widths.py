#!/usr/bin/python3
"""What all commands print on a terminal of 100 columns fits into it, by default and with --all, of every archive: no
wider line but commands to copy and single names. In a pipe tables are whole. And no '-0.0 %', no '1.2us' (µs).

    widths.py RUBATO [ARCHIVE...]

The archives: a text trace below with long names, and those of ../shared, if they are there.
"""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

rubato = pathlib.Path(sys.argv[1]).resolve()
shared = pathlib.Path(__file__).resolve().parents[3] / "shared"
COLUMNS = 100

# 40 ranks, messages of 4 B to 16 MiB, and functions of C++ with names longer than a line.
NAME = "solver::assemble_local_matrices_and_right_hand_sides_of_all_elements_on_faces_between_subdomains_" + "x" * 40
LONG = "nodes " + " ".join(str(rank // 8) for rank in range(40)) + "\n"
for rank in range(40):
    LONG += f"{rank}: 0..{10 + rank} init\n{rank}: {60 + rank} enter {NAME}{rank % 3}\n"
    LONG += f"{rank}: {200 + rank}..{300 + rank} isend {(rank + 1) % 40} {4 ** (rank % 12)}B req 1\n"
    LONG += f"{rank}: {400 + rank}..{900 + 7 * rank} recv {(rank - 1) % 40} {4 ** ((rank - 1) % 12 if rank else 39 % 12)}B\n"
    LONG += f"{rank}: {1300 + rank}..{1310 + rank} wait 1\n{rank}: {1400 + rank} leave {NAME}{rank % 3}\n"
    LONG += f"{rank}: {1500 + rank}..2000 allreduce 8B 8B\n{rank}: 2100..2200 finalize\n"

bad = 0


def check(words, text):
    """Complains about each line of the output that breaks a rule."""
    global bad
    for line in text.splitlines():
        faults = []
        if len(line) > COLUMNS and " " in line.strip() and not re.match(r"( *\d+\.| ) (mpirun.*)?rubato |   +--", line):
            faults.append(f"{len(line)} columns")
        if re.search(r"(^|[ (])-0(\.0*)?( %|$| )", line):
            faults.append("zero with a sign")
        if re.search(r"(?<![=\w.*/-])\d[\d.]*(us|ns|ms|kB/s|MB/s|GB/s)\b", line) and "rubato " not in line:
            faults.append("no blank before the unit")
        for fault in faults:
            bad += 1
            if bad < 20:
                print(f"rubato {' '.join(map(str, words))}: {fault}: {line}")


def on_terminal(*words):
    """The exit code, and what is printed on a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with subprocess.Popen([rubato, *words], cwd=directory.name, stdin=subprocess.DEVNULL, stdout=slave,
                          stderr=subprocess.DEVNULL) as process:
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 1 << 16):
                text += part
        except OSError:  # the end of a terminal
            pass
    os.close(master)
    return process.returncode, text.decode().replace("\r\n", "\n")


def run(*words):
    code, text = on_terminal(*words)
    check(words, text)
    return code


def tables_are_whole(*words):
    """A table that is split on the terminal has its heading once in a pipe."""
    _, split = on_terminal(*words)
    whole = subprocess.run([rubato, *words], cwd=directory.name, capture_output=True, text=True, check=True).stdout
    headings = [len(re.findall("^Rank ", text, re.M)) for text in (split, whole)]
    assert headings[0] > headings[1] > 0, headings
    assert max(map(len, whole.splitlines())) > COLUMNS


def look(archive):
    for more in ([], ["--all"]):
        run("replay", archive, "--on", "infiniband-hdr", "--on", "ethernet-1g:latency*10,bandwidth/10", *more)
        run("profile", archive, "--on", "measured", "--on", "ethernet-1g", *more)
        run("advise", archive, "--on", "ethernet-1g", *more)
        run("diff", archive, "--on", "ethernet-1g", archive, *more)
    run("tolerance", archive, "--on", "ethernet-1g")
    run("place", archive, "--on", "ethernet-1g")
    run("replay", archive, "--on", "ethernet-1g", "--sweep", "latency=0.1..10", "--sweep", "bandwidth=0.1..10")
    return run("info", archive)


directory = tempfile.TemporaryDirectory()
(pathlib.Path(directory.name) / "long.txt").write_text(LONG)
assert look("long.txt") == 0, "the text trace is refused"
tables_are_whole("profile", "long.txt", "--all")
archives = [pathlib.Path(word).resolve() for word in sys.argv[2:]] or sorted(shared.glob("traces/*/*.otf2"))
link = pathlib.Path(directory.name) / "run"  # a short name: paths are not wrapped
for each in archives:
    link.symlink_to(each.parent)
    look(f"run/{each.name}")
    link.unlink()
networks = sorted((pathlib.Path(__file__).resolve().parents[2] / "share/platforms").glob("*.toml"))
run("platforms")
for each in networks:
    run("check", each.stem)
run("doctor")
print(f"{len(archives) + 1} traces, {len(networks)} networks: {bad} faults")
sys.exit(bad > 0)
