# For the end-to-end tests: sourced as `. lib.sh` by NAME.sh FLAVOUR BUILD_DIR. Exit 77 = skipped.
set -eu
flavour=$1
build=$2
rubato=$build/bin/rubato

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Containers run tests as root, on fewer cores than ranks; Open MPI wants to be asked for both.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# MPI libraries do not free all they take.
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-}

mpirun=$(command -v mpirun.$flavour || command -v mpirun) || exit 77

# run RANKS COMMAND...: under this flavour's mpirun.
run() {
  ranks=$1
  shift
  case $flavour in
    openmpi) "$mpirun" -n "$ranks" --oversubscribe "$@" ;;
    *) "$mpirun" -n "$ranks" "$@" ;;
  esac
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

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
