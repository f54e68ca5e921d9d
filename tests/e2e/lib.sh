# Common ground of the end-to-end tests. Source it: `. "$(dirname "$0")/../lib.sh"`.
#
# Called as TEST.sh FLAVOUR BUILD_DIR, FLAVOUR being openmpi or mpich. A test works in a directory of its
# own, which is removed when it passes.
set -eu

flavour=$1
build=$2
rubato=$build/bin/rubato
name=$(basename "$0" .sh).$flavour
here=$(cd "$(dirname "$0")" && pwd)
tests=${here%/e2e*}
python=/usr/bin/python3   # Debian's, which has otf2

work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-$name.XXXXXX")
readonly work  # removed at the end
cd "$work"
# Files of a failed test are kept; others are removed, and so are records of programs that the test has killed.
before_exit=:
remove_all() {
  for records in /dev/shm/rubato-"$(id -u)"-*; do
    if grep -qsF "$work" "$records"/*.journal; then rm -rf "$records"; fi
  done
  rm -rf "$work"
}
trap 'rc=$?; $before_exit; cd /; if [ $rc = 0 ] || [ $rc = 77 ]; then remove_all; else say_where; fi' EXIT

# Compared pages and archives get the same date.
export SOURCE_DATE_EPOCH=1700000000
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

# A command that fails by itself ends a test, too (set -e); what it said may be in the file written last.
has_failed=no
say_where() {
  [ $has_failed = no ] || return 0
  latest=$(cd "$work" && ls -t -- *.txt 2>/dev/null | head -1)
  echo "FAIL $name: a command ended with $rc; the latest file in $work is $latest:" >&2
  head -c 2000 "$work/${latest:-/dev/null}" 2>/dev/null | tr -cd '[:print:]\n' >&2
}

fail() {
  has_failed=yes
  echo "FAIL $name: $*" >&2
  echo "     (files in $work)" >&2
  exit 1
}

skip() {
  echo "SKIP $name: $*"
  exit 77
}

# preload_into_fit CODE: makes into_fit.so, with which 'rubato fit' begins by CODE.
preload_into_fit() {
  cat >into_fit.c <<C
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {
  char words[4096] = "";
  const int file = open("/proc/self/cmdline", O_RDONLY);
  if (read(file, words, sizeof words - 1) > 0 && !strcmp(words + strlen(words) + 1, "fit")) {
    $1
  }
  close(file);
}
C
  cc -shared -fPIC -o "$work/into_fit.so" into_fit.c
}

pass() { echo "PASS $name"; }

# MPI libraries do not free all they take.
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-}

# expect_failure EXIT_CODE TEXT COMMAND...: the command fails so and says TEXT.
expect_failure() {
  expected=$1
  text=$2
  shift 2
  code=0
  "$@" >out.txt 2>&1 || code=$?
  [ "$code" = "$expected" ] || fail "'$*' exited with $code, not $expected: $(cat out.txt)"
  grep -qF -- "$text" out.txt || fail "'$*' does not say '$text': $(cat out.txt)"
}

# plan 'KEY = VALUE'...: the experiments of `rubato calibrate --plan plan.toml`.
plan() { printf '%s\n' "$@" >plan.toml; }

command -v "mpicc.$flavour" >/dev/null || skip "there is no mpicc.$flavour"

# build_program NAME [flags]: compiles NAME.c, or standard input if that does not exist yet.
build_program() {
  program=$1
  shift
  [ -e "$program.c" ] || cat >"$program.c"
  "mpicc.$flavour" -O1 -w -o "$program" "$program.c" "$@"
}

# Skips where Fortran programs cannot be made.
needs_fortran() {
  command -v gfortran >/dev/null || skip "there is no gfortran"
  command -v "mpif90.$flavour" >/dev/null || skip "there is no mpif90.$flavour"
}

# build_fortran NAME [flags]: compiles NAME.f90.
build_fortran() {
  program=$1
  shift
  "mpif90.$flavour" -O1 -w -std=legacy -cpp -ffree-line-length-none -o "$program" "$program.f90" "$@"
}

# run N COMMAND...: under mpirun, without the lines that mpirun itself adds. With yields=no, ranks without a core wait as
# the library does.
run() {
  ranks=$1
  shift
  if [ "$flavour" = mpich ] && [ "$ranks" -gt "$(nproc)" ] && [ "${yields:-yes}" = yes ] && [ -e "$build/tests/libyield.so" ]; then
    set -- -genv LD_PRELOAD "$build/tests/libyield.so${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
  fi
  "mpirun.$flavour" -n "$ranks" "$@"
}

# trace N COMMAND...: into run.otf2dir, in place of an earlier archive.
trace() {
  ranks=$1
  shift
  rm -rf run.otf2dir print.txt
  run "$ranks" "$rubato" trace -o run.otf2dir "$@"
}

# until_quiet COMMAND...: up to 8 times, until it succeeds. For what is only seen where no other program disturbs the run.
until_quiet() {
  tries=1
  until "$@"; do
    tries=$((tries + 1))
    [ $tries -le 8 ] || return 1
  done
}

# recover_ended [WHAT]: recovers run.otf2dir of a killed run, whose ranks may outlive the launcher for a moment.
recover_ended() {
  tries=0
  until "$rubato" recover run.otf2dir >out.txt 2>&1; do
    tries=$((tries + 1))
    grep -q "still runs" out.txt && [ $tries -lt 50 ] || fail "${1:+$1: }recover: $(cat out.txt)"
    sleep 0.2
  done
}

# one_report FILE: what a traced run said is the line about its archive, once.
one_report() {
  [ "$(wc -l <"$1")" = 1 ] && grep -q '^rubato: wrote [^ ]* ([0-9,]* ranks*, .* s, [0-9,]* MPI calls, .*B); next: ' "$1" ||
    fail "message: $(cat "$1")"
}

# count PATTERN: lines of otf2-print that match.
count() {
  [ -e print.txt ] || otf2-print run.otf2dir/traces.otf2 >print.txt
  grep -c -- "$1" print.txt || true
}

# expect NUMBER PATTERN
expect() {
  found=$(count "$2")
  [ "$found" = "$1" ] || fail "expected $1 lines of '$2', found $found"
}

# long_flushes MICROSECONDS: intervals of tracer time of at least that length. A query of the scheduler takes a few
# microseconds.
long_flushes() {
  [ -e print.txt ] || otf2-print run.otf2dir/traces.otf2 >print.txt
  rate=$(otf2-print -G run.otf2dir/traces.otf2 | sed -n 's/.*Ticks per Seconds: \([0-9]*\).*/\1/p')
  [ "${rate:-0}" -gt 0 ] || fail "otf2-print tells no clock rate"
  awk -v least="$1" -v rate="$rate" '/^BUFFER_FLUSH/ { t = $3; sub(/.*Stop Time: /, ""); n += ($1 - t) * 1e6 >= least * rate }
    END { print n + 0 }' print.txt
}

# check_readable [WHAT [ARCHIVE]]: OTF2's own tools have nothing to say against run.otf2dir, or ARCHIVE. WHAT goes
# before the message where a test makes several.
check_readable() {
  otf2-print -Werror --silent "${2-run.otf2dir}/traces.otf2" >check.txt 2>&1 ||
    fail "${1:+$1: }otf2-print: $(cat check.txt)"
}

# The archive is such a one, and its messages match.
check_archive() {
  check_readable
  "$python" "$tests/e2e/check_archive.py" run.otf2dir/traces.otf2 >check.txt 2>&1 ||
    fail "check_archive.py: $(tail -3 check.txt)"
}

# Every call is replayed, except calls that match PATTERN, which keep their recorded time.
check_replayed() {
  "$rubato" replay run.otf2dir --on measured --on perfect --verify --json - >replay.json 2>replay.txt ||
    fail "replay: $(cat replay.txt)"
  "$python" - "$1" <<'PYTHON' || fail "calls that keep their time"
import json, re, sys
kept = [k["call"] for k in json.load(open("replay.json"))["trace"]["kept"]]
sys.exit(", ".join(kept) if [k for k in kept if not re.fullmatch(sys.argv[1], k)] else 0)
PYTHON
}

# The replay reads the archive and gives every record back at its tick.
check_replay() {
  "$rubato" replay run.otf2dir --on measured --verify >replay.txt 2>&1 || fail "replay: $(cat replay.txt)"
}
