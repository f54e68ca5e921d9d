"""The networks of the virtual laboratory: each is a SimGrid platform with the programs' ranks as hosts.

A cluster's hosts have a link each, in both directions, and messages pass two of them; so the latency of a link is half
of what is said here. Where SimGrid changes what it was told (its factors, a window of TCP, 5 % for what comes in the
other direction), that is off, but in "factors".
"""

EXACT = ["network/bandwidth-factor:1.0", "network/latency-factor:1.0", "network/TCP-gamma:0", "network/crosstraffic:no",
         "network/weight-S:0", "smpi/bw-factor:0:1", "smpi/lat-factor:65536:3;0:1", "smpi/os:0:0:0", "smpi/or:0:0:0", "smpi/ois:0:0:0"]
HOSTS = 64


def cluster(latency, bandwidth, more="", hosts=HOSTS):
    """Microseconds from host to host, and MB/s of each host's link."""
    return (f'<cluster id="c" prefix="host" suffix="" radical="0-{hosts - 1}" speed="1Gf" bw="{bandwidth}MBps" '
            f'lat="{latency / 2}us" sharing_policy="SPLITDUPLEX"{more}/>')


class Network:
    """about: for the table. scenario: what a user who knows the network's shape adds to the calibrated file's name; {} in it
    is the directory of this file. seconds: times what a calibration takes elsewhere (--seconds)."""

    def __init__(self, about, platform, ranks_per_host=1, exact=True, options=(), scenario="", seconds=1):
        self.about, self.platform, self.ranks_per_host = about, platform, ranks_per_host
        self.options = ([*EXACT] if exact else []) + [*options]
        self.scenario, self.seconds = scenario, seconds

    def xml(self):
        return ('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
                f'<platform version="4.1">\n{self.platform}\n</platform>\n')

    def hosts(self, ranks):
        """The host of each rank."""
        return [f"host{rank // self.ranks_per_host}" for rank in range(ranks)]


NETWORKS = {
    "1GB-20us": Network("crossbar, 1 GB/s, 20 us", cluster(20, 1000)),
    "125MB-80us": Network("crossbar, 125 MB/s, 80 us", cluster(80, 125)),
    "12GB-2us": Network("crossbar, 12 GB/s, 2 us", cluster(2, 12000)),
    "factors": Network("1.25 GB/s, 20 us, SMPI's default factors of nine pieces", cluster(20, 1250), exact=False, seconds=4),
    "backbone": Network("1 GB/s, 20 us, a backbone of 8 GB/s (half of 16 hosts' links)",
                        cluster(20, 1000, ' bb_bw="8000MBps" bb_lat="0us"')),
    "fat-tree": Network("fat tree, tapered 2:1, 1 GB/s, 20 us",
                        cluster(10, 1000, ' topology="FAT_TREE" topo_parameters="2;8,8;1,4;1,1"')),
    "torus": Network("torus of 4x4x4, 1 GB/s, 4 us a link", cluster(8, 1000, ' topology="TORUS" topo_parameters="4,4,4" loopback_bw="100GBps" loopback_lat="0us"'),
                     scenario=",latency=0us,network={}/torus.toml"),
    "overheads": Network("crossbar, 1 GB/s, 20 us, 0.5 us of the processor for each send and receive", cluster(20, 1000),
                         options=["smpi/os:0:0.5e-6:0", "smpi/or:0:0.5e-6:0", "smpi/ois:0:0.5e-6:0"]),
    "4-a-host": Network("4 ranks a host, 4 GB/s and 1 us inside, 2 GB/s and 10 us between",
                        cluster(10, 2000, ' loopback_bw="4GBps" loopback_lat="1us"', 16), 4),
}

# Changes of a network that are asked of its platform file, and the network that is like that: how well the ratio of the two
# is predicted (--ratios).
CHANGED = {
    "1GB-20us": {"network.latency/2": Network("1GB-20us, half the latency", cluster(10, 1000)),
                 "network.bandwidth*2": Network("1GB-20us, twice the bandwidth", cluster(20, 2000))},
    "125MB-80us": {"network.latency/2": Network("125MB-80us, half the latency", cluster(40, 125)),
                   "network.bandwidth*2": Network("125MB-80us, twice the bandwidth", cluster(80, 250))},
    "12GB-2us": {"network.latency/2": Network("12GB-2us, half the latency", cluster(1, 12000)),
                 "network.bandwidth*2": Network("12GB-2us, twice the bandwidth", cluster(2, 24000))},
}
