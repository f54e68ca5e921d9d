"""Programs under SimGrid's SMPI: compiles them, and runs them on a network."""
import json
import os
import signal
import subprocess

import linpack

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "../programs")

# Which algorithm a collective uses, as SMPI and as platform files of Rubato call it. SMPI's own choice differs from that of
# the libraries it is named after, and for some of them the first call of a communicator costs more than the others.
ALGORITHMS = {
    "barrier": ("ompi_bruck", "dissemination"), "bcast": ("binomial_tree", "binomial"), "reduce": ("binomial", "binomial"),
    "allreduce": ("rdb", "recursive_doubling"), "alltoall": ("ring", "pairwise"), "alltoallv": ("ompi_basic_linear", "linear"),
    "allgather": ("bruck", "bruck"), "allgatherv": ("mpich_ring", "ring"), "gather": ("ompi_binomial", "binomial"),
    "scatter": ("ompi_binomial", "binomial"), "gatherv": (None, "linear"), "scatterv": (None, "linear"),
    "reduce_scatter": ("ompi_basic_recursivehalving", "recursive_halving"),
}


def with_algorithms(platform):
    """The text of a platform file, with these instead of what was measured."""
    before, collectives = platform.split("[collectives]", 1)
    after = collectives[collectives.index("\n[measured]"):]
    if "\n[network]" in collectives:
        after = collectives[collectives.index("\n[network]"):]
    ours = "".join(f'[collectives.{call}]\nalgorithm = "{name}"\n' for call, (_, name) in ALGORITHMS.items())
    return f'{before}[collectives]\nmodel = "algorithm"\n{ours}{after}'


# Computing takes no time, nor does reading the clock; messages of up to 64 KiB are on their way when they are sent.
COMMON = ["smpi/simulate-computation:no", "smpi/wtime:0", "smpi/async-small-thresh:65536", "smpi/send-is-detached-thresh:65536",
          "smpi/test:1e-6", "smpi/iprobe:1e-6", "smpi/grow-injected-times:no"]


class LabError(Exception):
    pass


def command(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        raise LabError(f"{' '.join(words)}: {done.stdout[-2000:]}")
    return done.stdout


class Programs:
    """Makes programs that SMPI can load: NAME.plain.so, timed by stopwatch.c, and NAME.traced.so."""

    def __init__(self, build, work, hpcc=None):
        self.hpcc = hpcc
        self.parts = os.path.join(build, "lab")
        with open(os.path.join(self.parts, "paths.json")) as file:
            self.paths = json.load(file)  # where CMake found SMPI
        self.work = os.path.join(work, "programs")
        os.makedirs(self.work, exist_ok=True)
        self.calibrator = os.path.join(self.parts, "librubato-calibrate-smpi.so")

    def object(self, source, options=()):
        made = os.path.join(self.work, os.path.basename(source).replace(".c", ".o"))
        command(["cc", "-O1", "-w", "-fPIC", "-isystem", self.paths["include"], *options, "-c", source, "-o", made])
        return made

    def make(self, name):
        link = ["c++", "-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs"]
        sources, options, libraries = [os.path.join(SOURCES, name + ".c")], [], ["-lm"]
        if name == "hpl":
            (sources, options), libraries = linpack.sources(self.hpcc, self.work), [*linpack.LIBRARIES, "-lm"]
        program, machine = [self.object(source, options) for source in sources], os.path.join(self.parts, "smpi.o")
        stopwatch = self.object(os.path.join(SOURCES, "stopwatch.c"))
        command([*link, "-o", self.plain(name), *program, stopwatch, machine, self.paths["simgrid"], *libraries])
        command([*link, "-o", self.traced(name), *program, machine, "-Wl,--whole-archive",
                 os.path.join(self.parts, "librubato-trace-smpi.a"), "-Wl,--no-whole-archive", self.paths["otf2"],
                 self.paths["simgrid"], *libraries, "-ldl"])

    def prepare(self, name, place, ranks):
        """What the program reads where it runs."""
        if name == "hpl":
            linpack.prepare(self.hpcc, place, ranks)

    def plain(self, name):
        return os.path.join(self.work, name + ".plain.so")

    def traced(self, name):
        return os.path.join(self.work, name + ".traced.so")


def smpirun(network, ranks, program, arguments, place, env=(), options=(), selector=None, timeout=600):
    """Runs it there and returns what it printed. selector: whose algorithms SMPI takes instead of ALGORITHMS, "mpich" or
    "ompi"."""
    platform, hosts = os.path.join(place, "platform.xml"), os.path.join(place, f"hosts-{ranks}")
    with open(platform, "w") as file:
        file.write(network.xml())
    with open(hosts, "w") as file:
        file.write("\n".join(network.hosts(ranks)) + "\n")
    algorithms = [f"smpi/{call}:{name}" for call, (name, _) in ALGORITHMS.items() if name]
    if selector:
        algorithms = [f"smpi/coll-selector:{selector}"]
    told = [f"--cfg={option}" for option in [*COMMON, *algorithms, *network.options, *options]]
    words = ["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts, *told, "--log=root.thres:critical",
             program, *arguments]
    # smpimain outlives its shell, and a calibrator catches signals.
    run = subprocess.Popen(words, cwd=place, env={**os.environ, **dict(env)}, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        printed = run.communicate(timeout=timeout)[0]
    except BaseException as error:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise LabError(f"{' '.join(words)}: not over after {timeout} s") from None
        raise
    if run.returncode:
        raise LabError(f"{' '.join(words)}: exit code {run.returncode}: {printed[-2000:]}")
    return printed
