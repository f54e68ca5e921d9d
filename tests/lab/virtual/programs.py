"""The programs of the virtual laboratory, of tests/lab/programs: how each is called. All of them compute by sleeping.

Those in ITS_WAY stand apart from the bars, each for its reason; mostly that SMPI does there what MPI libraries do not.
"""

PROGRAMS = {
    "halo-eager": ["halo", "2048", "3", "20", "500"],
    "halo-rendezvous": ["halo", "200000", "1", "10", "2000"],
    "halo-persistent": ["halo_persistent", "8192", "20", "500"],
    "halo-reversed": ["halo_persistent", "100000", "10", "1500", "1"],
    "master-worker": ["master_worker", "150", "2000", "16384"],
    "overlap": ["overlap", "100000", "15", "1000"],
    "solver": ["solver", "8192", "30", "400"],
    "wavefront": ["wavefront", "4096", "4", "6", "200"],
    "alltoall": ["exchange", "alltoall", "8192", "8", "1500"],
    "alltoallv": ["exchange", "alltoallv", "8192", "8", "1500"],
    "vectors": ["exchange", "vectors", "16384", "6", "1500"],
    "in-place": ["exchange", "in-place", "8192", "6", "1500"],
    "late-receivers": ["inside", "late", "8192", "20", "1000"],
    "probes": ["inside", "probes", "16384", "18", "1000"],
    "empty-parts": ["inside", "empty", "65536", "12", "1000"],
    "user-operation": ["inside", "operation", "4096", "12", "1000"],
    "strided": ["inside", "strided", "32768", "15", "1000"],
    "one-sided": ["one_sided", "65536", "10", "1000"],
    "summa": ["summa", "100000", "1500"],
    "lu": ["lu", "1024", "12", "3", "60"],
    "ft": ["ft", "1048576", "5", "3000"],
    "hpl": ["hpl"],
}

# Changes of compute that are asked of a recording (measured:CHANGE, undisturbed:CHANGE), and the argument with which the
# program is run to see what they do.
CHANGES = {name: ("rank1.cpu*2", "2") for name in ["late-receivers", "probes", "empty-parts", "user-operation", "strided"]}

# With the sources at hand only (--hpcc).
OUTSIDE = ["hpl"]

# Whose receives take what comes first: replayed so, and in the recorded order beside it.
BY_ARRIVAL = ["master-worker"]

ITS_WAY = {
    "master-worker (recorded order)": "each task goes to the worker that received it in the recording",
    "one-sided": "in SMPI a fence is two barriers, and creating a window takes no time",
}
