"""The machine under the laboratory: what it takes from real-time programs, and whether it has something else to do."""
import contextlib
import glob
import os
import subprocess
import tempfile
import time

RT_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


@contextlib.contextmanager
def undivided(work):
    """Real-time programs keep their cores, as far as the kernel lets itself be told. By default it takes them away for
    50 ms of each second: where real-time programs of a group fill a core (sched_rt_runtime_us), and where anything
    else waits for that core (the fair server, since Linux 6.12). Afterwards both are as they were, whatever happens.
    Yields sentences on what could not be had.
    """
    complaints = []
    with contextlib.ExitStack() as stack:
        if not _set(RT_RUNTIME, "-1", stack):
            complaints.append(f"{RT_RUNTIME} cannot be changed: real-time ranks lose 5 % of a core that they fill")
        if not _stop_fair_servers(work, stack):
            complaints.append("the kernel's fair server cannot be stopped (no debugfs, or a kernel in lockdown): ranks "
                              "lose 50 ms a second where anything else waits for their core")
        yield complaints


def _set(name, value, stack):
    """Writes to a kernel's file until the stack is unwound; False where that is not permitted."""
    try:
        with open(name) as file:
            before = file.read()
        if before.strip() == value:
            return True
        with open(name, "w") as file:
            file.write(value)
    except OSError:
        return False
    stack.callback(_write, name, before)
    return True


def _write(name, value):
    with open(name, "w") as file:
        file.write(value)


def _stop_fair_servers(work, stack):
    """True where there are none left, or none at all. Mounts debugfs in a directory of its own."""
    os.makedirs(work, exist_ok=True)
    place = tempfile.mkdtemp(prefix="debugfs.", dir=work)
    stack.callback(os.rmdir, place)
    if subprocess.run(["mount", "-t", "debugfs", "debugfs", place], stderr=subprocess.DEVNULL).returncode:
        return False
    stack.callback(subprocess.run, ["umount", "--lazy", place], check=True)
    if not os.path.isdir(os.path.join(place, "sched")):
        return False
    return all([_set(name, "0", stack) for name in glob.glob(os.path.join(place, "sched/fair_server/cpu*/runtime"))])


class Rest:
    """Waits for the machine to have nothing else to do, in all for so many seconds at most."""

    CALM = 0.1    # maximum share of the cores' time used by other processes
    LOOK = 0.1    # seconds

    def __init__(self, patience):
        self.patience = patience

    def wait(self):
        """Waits until the machine is calm or patience is used up; returns the last load."""
        while True:
            load = self.load()
            if load <= self.CALM or self.patience <= 0:
                return load
            began = time.monotonic()
            time.sleep(1)
            self.patience -= time.monotonic() - began + self.LOOK

    def load(self):
        busy, whole = self._ticks()
        time.sleep(self.LOOK)
        busy_then, whole_then = self._ticks()
        return (busy_then - busy) / max(1, whole_then - whole)

    @staticmethod
    def _ticks():
        with open("/proc/stat") as file:
            numbers = [int(word) for word in file.readline().split()[1:9]]
        return sum(numbers) - numbers[3] - numbers[4], sum(numbers)
