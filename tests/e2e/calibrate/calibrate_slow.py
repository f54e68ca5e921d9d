#!/usr/bin/env python3
"""`rubato calibrate --quick` ends within 30 s on slow networks (the laboratory's, tests/lab) and says what it left out."""
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../lab"))
import network  # noqa: E402

RUBATO = os.path.join(sys.argv[1], "bin/rubato")
MOST = 30   # seconds, with launch and fit

if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
    print("no laboratory can be made here")
    sys.exit(77)

with tempfile.TemporaryDirectory() as work:
    for latency, rate in ("500us", "1Gbit"), ("50ms", "10Mbit"):
        with network.Network({"latency": latency, "rate": rate}, "1500", 2, work) as lab:
            begin = time.monotonic()
            output = lab.mpirun("openmpi", 2, [RUBATO, "calibrate", "--quick", "--force", "-o", f"{work}/slow.toml"])
            seconds = time.monotonic() - begin
        print(f"{latency} {rate}: {seconds:.1f} s")
        assert seconds < MOST, output
        assert "Left out, to end in time: " in output, output
        with open(f"{work}/slow.toml", encoding="utf-8") as file:
            text = file.read()
        assert "[level.network]" in text and "left_out = " in text, text
print("passed")
