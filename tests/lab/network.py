"""Hosts that are none, a network between them, and MPI programs that run there.

A host is a set of namespaces (network, host name, mounts, System V memory) that one process holds open; the network is
the switch beside this file. Hosts share with the machine its processors, its files (but /dev/shm) and its clock.
"""
import os
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))


SWITCH_CORE, RANKS_CORE = 0, 1
# Real-time priorities. The switch has the highest, 50, probably more than anything else on the machine. Launchers have
# that of the ranks: daemons of Open MPI poll while a rank starts on their core, which at a lower priority never does.
LAUNCHER_PRIORITY = RANKS_PRIORITY = "30"


def pinned(core):
    return ["taskset", "--cpu-list", str(core)]


TIMEOUT_CODES = 124, 137   # of timeout(1), when it ended what it ran, and when it had to kill it


class LabError(Exception):
    """A host, the network or a program did not do what was asked."""


class HungRun(LabError):
    """A launch that did not end in its time."""


class Network:
    """Hosts lab1 ... labN on a network; `with` it, as nothing is left of it afterwards.

    spec: {"latency": "50us", "rate": "5Gbit", "jitter": "0us"}, and {"uplink": "1Gbit", "behind": "2"} where the first
    two hosts share a link to all others; mtu: the largest frame, in bytes, a string.
    """

    def __init__(self, spec, mtu, hosts, work):
        self.spec, self.mtu, self.count = spec, mtu, hosts
        self.work = os.path.abspath(work)
        self.switch, self.holders = None, []
        self.names = [f"lab{k + 1}" for k in range(hosts)]
        os.makedirs(self.work, exist_ok=True)

    def __enter__(self):
        try:
            with open(self._file("hosts"), "w") as file:
                file.write("127.0.0.1 localhost\n")
                file.writelines(f"10.78.0.{k + 1} {name}\n" for k, name in enumerate(self.names))
            self.holders = [self._hold(name) for name in self.names]
            self._write_agent()
            self.switch = subprocess.Popen(
                [*pinned(SWITCH_CORE), switch_program(), "--latency", self.spec["latency"], "--rate", self.spec["rate"],
                 "--jitter", self.spec.get("jitter", "0us"), "--mtu", self.mtu, "--statistics", self._file("switch.txt"),
                 *(word for key in ("uplink", "behind") if key in self.spec for word in (f"--{key}", self.spec[key])),
                 *(str(holder.pid) for holder in self.holders)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            if self.switch.stdout.readline() != "ready\n":
                raise LabError("the switch did not start")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._end_what_is_left()
        for process in [self.switch, *self.holders]:
            if process:
                process.stdin.close()   # each ends with its standard input, also where this program was killed
                process.wait()

    def on_host(self, number, command):
        """That command, to be run on that host."""
        return ["nsenter", "-t", str(self.holders[number].pid), "-u", "-n", "-m", "-i", f"--wdns={os.getcwd()}",
                *command]

    def mpirun(self, flavour, ranks, command, one_core=True, preload=(), env=None, timeout=120, cwd=None):
        """Runs an MPI program, one rank after the other in blocks over the hosts; its output.

        Ranks yield when idle, and run at a real-time priority below the switch's: a rank that has waited for its turn
        gets it with the next yield of another one, and what else the machine does hardly matters. On one core they
        leave the other one to the switch, which then never takes theirs: for programs that do not compute.
        """
        preload = list(preload)
        if flavour == "mpich":
            preload.append(yield_library())
        # Preloaded into the program alone, and not into what launches it.
        command = ["chrt", "--rr", RANKS_PRIORITY, *(pinned(RANKS_CORE) if one_core else []), "env",
                   *([f"LD_PRELOAD={':'.join(preload)}"] if preload else []),
                   *(f"{name}={value}" for name, value in (env or {}).items()), *command]
        each = -(-ranks // self.count)
        hosts = self.names[:-(-ranks // each)]
        variables = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        launch = ["mpirun." + flavour, "-n", str(ranks)]
        if flavour == "openmpi":
            launch += ["--host", ",".join(f"{host}:{each}" for host in hosts), "--bind-to", "none",
                       "--mca", "plm_rsh_agent", self._file("agent"), "--mca", "oob_tcp_if_include", "eth0",
                       "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_if_include", "eth0",
                       "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "mpi_yield_when_idle", "1"]
            for name, value in variables.items():
                launch += ["-x", f"{name}={value}"]
        else:
            # UCX's other ways through shared memory lead through the walls, by way of /proc.
            launch += ["-hosts", ",".join(hosts), "-ppn", str(each), "-launcher", "ssh",
                       "-launcher-exec", self._file("agent"), "-iface", "eth0",
                       "-genv", "UCX_NET_DEVICES", "eth0", "-genv", "UCX_TLS", "tcp,self,sysv"]
            for name, value in variables.items():
                launch += ["-genv", name, value]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        for name in "OMPI_COMMAND", "PMI_RANK":
            environment.pop(name, None)
        arguments = self.on_host(0, ["chrt", "--rr", LAUNCHER_PRIORITY, "timeout", "-k", "5", str(timeout), *launch, *command])
        if cwd:
            arguments = [word if not word.startswith("--wdns=") else f"--wdns={cwd}" for word in arguments]
        with subprocess.Popen(arguments, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace") as process:
            try:
                began = time.monotonic()
                output = process.communicate(timeout=timeout + 20)[0]
            except BaseException as error:
                process.terminate()   # timeout passes it on to the launcher
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:   # ranks at a real-time priority starve it
                    self._end_what_is_left()
                    process.kill()
                self._end_what_is_left()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise HungRun(f"{' '.join(launch + command)} did not end") from error
                raise
            # Now and then a daemon of Open MPI outlives its job, polls for ever, and takes a core from the next runs.
            self._end_what_is_left()
        if process.returncode:
            hung = process.returncode in TIMEOUT_CODES and time.monotonic() - began >= timeout
            raise (HungRun if hung else LabError)(
                f"exit code {process.returncode} of {' '.join(launch + command)}:\n{output[-3000:]}")
        return output

    def _end_what_is_left(self):
        """Ends what still runs on the hosts: ranks whose launcher was killed would spin for ever, and take the core."""
        namespaces = set()
        for holder in filter(None, self.holders):
            if holder.poll() is None:
                namespaces.add(os.readlink(f"/proc/{holder.pid}/ns/net"))
        namespaces.discard(os.readlink("/proc/self/ns/net"))   # of a holder that has none of its own yet
        own = {process.pid for process in [self.switch, *self.holders] if process}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if int(name) not in own and os.readlink(f"/proc/{name}/ns/net") in namespaces:
                    # (At a real-time priority some went on for minutes with SIGKILL pending.)
                    for task in os.listdir(f"/proc/{name}/task"):
                        os.sched_setscheduler(int(task), os.SCHED_OTHER, os.sched_param(0))
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                pass   # it has ended

    def _file(self, name):
        return os.path.join(self.work, name)

    def _hold(self, name):
        script = ('ip link set lo up && hostname "$1" && mount -t tmpfs tmpfs /dev/shm && mount --bind "$2" /etc/hosts'
                  " && echo held && exec cat")
        holder = subprocess.Popen(
            ["unshare", "-u", "-n", "-m", "-i", "--propagation", "private", "sh", "-c", script, "hold", name,
             self._file("hosts")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if holder.stdout.readline() != "held\n":
            raise LabError(f"no host {name}: namespaces are not permitted here")
        return holder

    def _write_agent(self):
        """What a launcher calls to start its daemon on a host: agent [options] HOST COMMAND..."""
        cases = "".join(f"  {name}) holder={holder.pid} ;;\n" for name, holder in zip(self.names, self.holders))
        with open(self._file("agent"), "w") as file:
            file.write("#!/bin/sh\nwhile :; do case $1 in -*) shift ;; *) break ;; esac done\n"
                       f"case $1 in\n{cases}esac\nshift\n"
                       'exec nsenter -t "$holder" -u -n -m -i --wdns="$PWD" sh -c "$*"\n')
        os.chmod(self._file("agent"), 0o755)


def switch_program():
    """The switch, compiled when its source is newer."""
    return compiled("switch", ["c++", "-std=c++20", "-O2"], os.path.join(HERE, "switch.cc"))


def yield_library():
    """MPICH has no setting that makes ranks yield; preloaded, this makes UCX below it do so, and MPI_Finalize end."""
    return compiled("yield.so", ["cc", "-O1", "-shared", "-fPIC"],
                    os.path.join(HERE, "../conformance/mpich_over_ucx.c"))


def compiled(name, compiler, source, *flags):
    """The program of that source, in the cache directory of the lab; made anew when the source changed."""
    cache = os.path.join(os.environ.get("RUBATO_LAB", os.path.join(os.environ.get("TMPDIR", "/tmp"), "rubato-lab")),
                         "programs")
    os.makedirs(cache, exist_ok=True)
    program = os.path.join(cache, name)
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        subprocess.run([*compiler, "-o", program + ".new", source, *flags], check=True)
        os.rename(program + ".new", program)
    return program


def why_not():
    """Why there can be no lab here; None if there can."""
    if os.geteuid() != 0:
        return "it needs root"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    probe = subprocess.run(["unshare", "-u", "-n", "-m", "-i", "chrt", "-f", "50", "ip", "tuntap", "add", "probe",
                            "mode", "tap"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return "namespaces, TAP devices or real-time priorities are not permitted" if probe.returncode else None
