#!/usr/bin/env bash
# Closed or full standard streams, planted links, signals and limits of file sizes: written files are complete and in
# the right place, failures are reported: streams_and_files.sh RUBATO
set -uo pipefail
rubato=$(readlink -f "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() {
  echo "$*"
  bad=1
}
# code WANTED WORDS...: the exit code of what was run last, which is in $?.
code() {
  local got=$?
  ((got == $1)) || fail "${*:2}: exit code $got instead of $1"
}

printf 'nodes 0 1\n0: 0..5 send 1 8B\n0: 10 end\n1: 0..7 recv 0 8B\n1: 10 end\n' >t.txt
printf '# OSU MPI Latency Test v5.9\n# Size  Latency (us)\n' >osu.txt
printf '%s  %s\n' 0 1.00 1 1.00 8 1.02 64 1.10 1024 1.50 8192 3.5 65536 10.5 >>osu.txt

# Standard output is closed: the report is discarded, and no other file gets its descriptor.
"$rubato" replay t.txt --on bandela --json j.json >&-
code 0 "replay >&-"
python3 -c 'import json; json.load(open("j.json"))' || fail "j.json holds something else: $(head -c 200 j.json)"
"$rubato" import osu.txt -o o.toml >&-
code 0 "import >&-"
[[ -s o.toml ]] || fail "no o.toml"
"$rubato" replay t.txt --on bandela <&- >&- 2>&-
code 0 "replay without any stream"
# Standard error is closed or full.
"$rubato" replay t.txt --on nothere 2>&- >out
code 1 "replay 2>&-"
[[ -s out ]] && fail "the message is in standard output: $(cat out)"
"$rubato" replay t.txt --on nothere 2>/dev/full >out
code 1 "replay 2>/dev/full"
"$rubato" repaly 2>/dev/full
code 2 "a command that there is not 2>/dev/full"
# Standard output is full.
for words in --help --version "replay --help" platforms "info t.txt" "replay t.txt" "replay t.txt --json -"; do
  # shellcheck disable=SC2086
  "$rubato" $words >/dev/full 2>err
  code 1 "$words >/dev/full"
  [[ $(cat err) == "rubato: error: standard output cannot be written" ]] || fail "$words: $(cat err)"
done

# A replaced report keeps its permissions; a new one has those of the umask.
echo old >j.json
chmod 600 j.json
"$rubato" replay t.txt --json j.json >out
[[ $(stat -c %a j.json) == 600 ]] || fail "600 became $(stat -c %a j.json)"
(umask 027 && "$rubato" replay t.txt --json new.json >out)
[[ $(stat -c %a new.json) == 640 ]] || fail "with umask 027: $(stat -c %a new.json)"
# Names of temporary files cannot be known beforehand.
echo mine >victim
for ((i = 1; i < 300; ++i)); do ln -s victim "k.json.part-$(($$ + i))"; done
"$rubato" replay t.txt --json k.json >out
code 0 "replay beside links"
[[ $(cat victim) == mine ]] || fail "a link was followed"
rm k.json.part-*

# A file that grows beyond the limit: one line, and nothing left.
rm -f j.json
for command in "replay t.txt --json j.json" "replay t.txt --html j.json" "import osu.txt -o j.json --force"; do
  # shellcheck disable=SC2086
  (ulimit -f 1 && exec "$rubato" $command >/dev/null 2>/dev/shm/streams.$$)
  code 1 "ulimit -f 1: $command"
  grep -q "^rubato: error: j.json: cannot be written: File too large$" /dev/shm/streams.$$ ||
    fail "$command: $(cat /dev/shm/streams.$$)"
  rm /dev/shm/streams.$$
  [[ -n $(ls j.json* 2>/dev/null) ]] && fail "left: $(ls j.json*)" && rm j.json*
done

# Interrupted while it reads a pipe without a writer, with output files open: files without a name, which are gone even
# after SIGKILL, and files beside, as on a file system that has no others.
mkfifo pipe.txt
cat >named.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
  va_end(more);
  errno = EOPNOTSUPP;
  return (flags & O_TMPFILE) == O_TMPFILE ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
C
gcc -shared -fPIC -w -o named.so named.c || fail "named.so"
for signal in INT TERM HUP KILL named-INT named-TERM named-HUP; do
  # (A shell without job control starts what it waits for later with SIGINT ignored.)
  python3 - "$rubato" "$signal" <<'END' || fail "SIG$signal"
import os, signal, subprocess, sys, time
number = getattr(signal, "SIG" + sys.argv[2].removeprefix("named-"))
named = sys.argv[2].startswith("named-")
try:
    os.close(os.open(".", os.O_TMPFILE | os.O_WRONLY))
except OSError:  # there are only files beside
    if number == signal.SIGKILL:
        sys.exit(0)
    named = True
def under_way(run):
    if named:
        return any(name.startswith("j.json.part-") for name in os.listdir("."))
    links = []
    for link in os.listdir(f"/proc/{run.pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{run.pid}/fd/{link}"))
        except OSError:
            pass  # closed meanwhile
    return any(link.startswith(os.getcwd() + "/#") for link in links)
run = subprocess.Popen([sys.argv[1], "replay", "pipe.txt", "--json", "j.json"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       env=dict(os.environ, **({"LD_PRELOAD": os.path.abspath("named.so")} if named else {})),
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
for _ in range(200):
    if under_way(run):
        break
    time.sleep(0.02)
else:
    sys.exit("no file under way")
run.send_signal(number)
out, err = run.communicate(timeout=20)
word = "interrupted" if number == signal.SIGINT else "terminated"
left = [name for name in os.listdir(".") if ".part-" in name or name == "j.json"]
said = "" if number == signal.SIGKILL else f"rubato: {word}\n"
if run.returncode != -number or err != said or out or left:
    sys.exit(f"{run.returncode} {err!r} {out!r} {left}")
END
done

# Data on standard output are those of a file, to the byte, wherever the parts end in which they go there.
name=x$(printf 'é%.0s' $(seq 40000))
"$rubato" replay t.txt --only --on "bandela:latency=3us,name=$name" --json - >out.json
"$rubato" replay t.txt --only --on "bandela:latency=3us,name=$name" --json file.json >/dev/null
cmp out.json file.json || { echo "--json - is not --json FILE"; bad=1; }

exit "$bad"
