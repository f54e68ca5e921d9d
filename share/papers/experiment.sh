# Shared by the experiments: the paths of rubato and MPI, the output directory, runs and profiles. Sourced by the
# scripts beside it, which set `paper` to their name first, and `wrapper` to words before the program of each rank
# (none, or "chrt -r 1"). shellcheck shell=bash disable=SC2034,SC2154

fail() {
  printf '%s: %s\n' "$paper" "$*" >&2
  exit 1
}
say() { printf '== %s\n' "$*" >&2; }

papers=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Time of processors in ticks: of all programs and the hypervisor's others, of this script and its programs, and all.
processor_ticks() {
  local all idle waiting stolen own
  read -r _ user nice system idle waiting irq softirq stolen _ </proc/stat
  read -r -a own < <(sed 's/.*) //' /proc/$$/stat) # behind the name: field 3 on
  all=$((user + nice + system + irq + softirq + stolen))
  echo "$all $((own[11] + own[12] + own[13] + own[14])) $((all + idle + waiting))"
}
read -r -a ticks_before < <(processor_ticks)

# All processors of the machine; nproc counts only the processors this process may use.
processors() { grep -c '^cpu[0-9]' /proc/stat; }

# Sets quiet: a sentence for the page on the time that other programs took since this file was read, in percent of one
# processor. Warns from 6 % on: figures may be off, whatever the number of processors. Programs in the background that
# have not ended count as others.
watch_others() {
  local now whole others
  read -r -a now < <(processor_ticks)
  whole=$(((now[2] - ticks_before[2]) / $(processors)))
  others=$((whole > 0 ? 100 * (now[0] - ticks_before[0] - now[1] + ticks_before[1]) / whole : 0))
  ((others > 0)) || others=0
  quiet="other programs took $others % of one processor"
  ((others < 6)) || printf '%s: %s: too busy for these claims; repeat it on a quiet machine\n' "$paper" "$quiet" >&2
  ((others < 6)) || quiet+=": too busy for these claims"
}

# Sets rubato, mpicc and mpirun, and what Open MPI needs to start more ranks than there are cores, or as root.
# Arguments: further commands that have to be there.
find_tools() {
  local candidate tool
  rubato=${RUBATO:-}
  for candidate in "$papers/../../build/bin/rubato" "$papers/../../../bin/rubato" "$(command -v rubato || true)"; do
    [[ -z $rubato && -x $candidate ]] && rubato=$candidate
  done
  [[ -n $rubato ]] || fail "there is no rubato; build it, or set RUBATO"
  # Debian's LAMMPS uses Open MPI, whichever mpirun is the default.
  mpicc=${MPICC:-$(command -v mpicc.openmpi || echo mpicc)}
  mpirun=${MPIRUN:-$(command -v mpirun.openmpi || echo mpirun)}
  for tool in "$mpirun" python3 "$@"; do
    command -v "$tool" >/dev/null || fail "there is no $tool${missing_hint:+ ($missing_hint)}"
  done
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
  # mpirun refuses to run as root, usual in containers, unless both variables are set.
  ((EUID != 0)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# Makes the directory $1, or ./rubato-PAPER or the next free one; sets out.
make_output() {
  out=${1:-rubato-$paper}
  if [[ -e $out ]]; then
    [[ -z ${1:-} ]] || fail "$out exists; name a directory that does not, nothing is overwritten"
    local number=2
    while [[ -e $out-$number ]]; do ((number++)); done
    out=$out-$number
  fi
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
}

# trace NAME RANKS COMMAND...: runs it, recorded into $out/NAME.otf2dir. What it says goes into $out/NAME.log.
trace() {
  local name=$1 ranks=$2
  shift 2
  say "$ranks ranks: $(basename "$1")${2:+ ${*:2}}"
  (cd "$out" && "$mpirun" -n "$ranks" "${wrapper[@]}" "$rubato" trace --memory 1GiB -o "$name.otf2dir" "$@") >"$out/$name.log" 2>&1 ||
    fail "the run failed: $(tail -n 5 "$out/$name.log")"
}

# profile NAME FILE SCENARIO...: of the archive NAME, into $out/FILE.json.
profile() {
  local name=$1 file=$2 scenario
  shift 2
  local scenarios=()
  for scenario in "$@"; do scenarios+=(--on "$scenario"); done
  (cd "$out" && "$rubato" profile "$name.otf2dir" "${scenarios[@]}" --json "$file.json") >"$out/$file.txt" 2>&1 ||
    fail "$(tail -n 5 "$out/$file.txt")"
}

# This machine as a platform: sets here to the file $1, or measures messages between two ranks for $2 seconds.
find_platform() {
  here=${1:+$(realpath "$1")}
  if [[ -z $here ]]; then
    say "calibrating this machine, some $2 s"
    printf '%s\n' 'collectives = "none"' 'patterns = "none"' >"$out/plan.toml"
    (cd "$out" && "$mpirun" -n 2 "${wrapper[@]}" "$rubato" calibrate --seconds "$2" --plan plan.toml -o here.toml) \
      >"$out/here.log" 2>&1 || fail "the calibration failed: $(tail -n 5 "$out/here.log")"
    here=here.toml # all runs are in $out
  fi
}
