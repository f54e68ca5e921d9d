"""What the laboratory measures: which networks, which programs, how large.

Sizes are such that a run takes 0.2 to 3 s on all networks, and were chosen for that alone.
"""
import os
import shutil

from network import HERE, compiled

# longest: of the messages that calibrate it, as bursts of long ones take seconds each on a slow network.
NETWORKS = {
    "50us-5Gbit": {"latency": "50us", "rate": "5Gbit", "longest": "1MiB"},
    "100us-1Gbit": {"latency": "100us", "rate": "1Gbit", "longest": "256KiB"},
    "200us-200Mbit": {"latency": "200us", "rate": "200Mbit", "longest": "128KiB"},
    "500us-1Gbit": {"latency": "500us", "rate": "1Gbit", "longest": "256KiB"},
    "1ms-100Mbit": {"latency": "1ms", "rate": "100Mbit", "longest": "256KiB"},
    "2ms-50Mbit": {"latency": "2ms", "rate": "50Mbit", "longest": "128KiB"},
    "5ms-200Mbit": {"latency": "5ms", "rate": "200Mbit", "longest": "256KiB"},
}

# like: the network without the uplink that the first two hosts share; its platform file serves for both.
SHARED = {
    "200us-200Mbit-2to1": {**NETWORKS["200us-200Mbit"], "like": "200us-200Mbit", "uplink": "200Mbit", "behind": "2"},
    "200us-200Mbit-4to1": {**NETWORKS["200us-200Mbit"], "like": "200us-200Mbit", "uplink": "100Mbit", "behind": "2"},
}
ALL_NETWORKS = {**NETWORKS, **SHARED}

OWN = ("halo", "master_worker", "overlap", "solver", "wavefront")


def frame_bytes(net, sleeps):
    """The largest frame. Large ones where there are many of them, or where programs want the core that they cost."""
    return "1500" if sleeps and ALL_NETWORKS[net]["rate"].endswith("Mbit") else "9000"


def bandwidth(rate, data=1):
    """The data rate of a link of so many bits per second with that share of data, in the syntax of scenarios."""
    number, factor = next((rate[:-len(unit)], factor) for unit, factor in
                          (("Gbit", 1e9), ("Mbit", 1e6)) if rate.endswith(unit))
    return f"{float(number) * factor / 8e6 * data:.6g}MB/s"


def payload(rate, mtu):
    """What of them is data of a TCP connection: frames have headers of IP and TCP inside (52 bytes), and Ethernet's
    around (14), preamble, check sum and gap (24)."""
    return bandwidth(rate, (int(mtu) - 52) / (int(mtu) + 38))


def shared_network(net, mtu):
    """The file that says which hosts share which link, or "" where none does. Each host has its own full link: the
    platform file says what that gives to it alone."""
    spec = ALL_NETWORKS[net]
    if "like" not in spec:
        return ""
    return (f'[network]\ntopology = "graph"\nnodes = ["n[0-3]"]\n'
            f'cables = ["n[0-1] s0", "n[2-3] s1", "s0 s1 {payload(spec["uplink"], mtu)}"]\n'
            f'link_bandwidth = "{payload(spec["rate"], mtu)}"\n')


class Program:
    """A program, how it is called, and with how many ranks; files that it reads, what is preloaded into it.

    With `runs_of` it is another prediction, with those options of `rubato replay`, for the runs of that program. One that
    sleeps where others compute has its ranks on one core, and the switch has the other one for itself.
    """

    def __init__(self, about, command, files=(), preload="", ranks=(2, 4), flavours=("openmpi", "mpich"),
                 runs_of=None, replay=()):
        self.about, self.command, self.files, self.preload = about, command, files, preload
        self.ranks, self.flavours = ranks, flavours
        self.sleeps = command[0] in OWN
        self.runs_of, self.replay = runs_of, list(replay)

    def there(self):
        """False for one that is not installed."""
        return self.command[0] in OWN or shutil.which(self.command[0]) is not None

    def prepared(self, flavour, directory):
        """Its command, to be run in that directory, where its input lies."""
        for name, text in self.files:
            with open(os.path.join(directory, name), "w") as file:
                file.write(text)
        return [self.executable(flavour), *self.command[1:]]

    def executable(self, flavour):
        name = self.command[0]
        return compiled(f"{name}.{flavour}", ["mpicc." + flavour, "-O1", "-w"], source(name + ".c")) if name in OWN else name

    def preloaded(self, flavour):
        return [shared(self.preload, flavour)] if self.preload else []


def hpcc_input():
    """The example of the package with a smaller matrix, on which the sizes of all of its tests depend."""
    try:
        with open("/usr/share/doc/hpcc/examples/_hpccinf.txt") as file:
            lines = file.read().splitlines()
    except OSError:
        return ""
    for place, value in ((5, "300 Ns"), (10, "1 Ps"), (11, "2 Qs")):
        lines[place] = value
    return "\n".join(lines) + "\n"


def source(name):
    """A file of the laboratory's programs."""
    return os.path.join(HERE, "programs", name)


def shared(name, flavour):
    """A library of the laboratory's, to be preloaded."""
    return compiled(f"{name}.{flavour}.so", ["mpicc." + flavour, "-O1", "-shared", "-fPIC"], source(name + ".c"))


PROGRAMS = {
    "lammps": Program("LAMMPS, a Lennard-Jones liquid of 4000 atoms, 200 steps",
                      ["lmp", "-in", source("melt.in"), "-var", "steps", "200", "-log", "none"],
                      ranks=(2,), flavours=("openmpi",)),
    "hpcc": Program("HPC Challenge up to its FFT: RandomAccess twice, PTRANS, DGEMM, STREAM, FFT", ["hpcc"],
                    files=[("hpccinf.txt", hpcc_input())], preload="until_wtick", ranks=(2,), flavours=("openmpi",)),
    "hpcc-keep": Program("the same archives, replayed with --polling keep", ["hpcc"], ranks=(2,),
                         flavours=("openmpi",), runs_of="hpcc", replay=["--polling", "keep"]),
    "halo-eager": Program("halo exchange, 4 messages of 2 kB each way, 200 steps", ["halo", "2048", "4", "200", "2000"]),
    "halo-rendezvous": Program("halo exchange, a message of 200 kB each way, 30 steps",
                               ["halo", "200000", "1", "30", "10000"]),
    "master-worker": Program("tasks of 16 kB for idle workers, receives from any source",
                             ["master_worker", "100", "4000", "16384"]),
    "overlap": Program("Isend and Irecv of 100 kB, work, Wait", ["overlap", "100000", "60", "5000"]),
    "solver": Program("conjugate gradients: two allreduces and a small halo an iteration",
                      ["solver", "8192", "150", "1500"]),
    "wavefront": Program("sweeps through a row of ranks, blocking messages of 4 kB",
                         ["wavefront", "4096", "4", "40", "1500"]),
}
