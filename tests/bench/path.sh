# Shared by benchmarks of one path between two ranks of this machine. Source it: `. path.sh "$@"`, called as BENCH
# FLAVOUR BUILD_DIR [shm|tcp] [options]. Sets flavour, build, path, options, and launch: the command that starts two
# ranks on separate cores, communicating over shared memory or TCP. Changes to a directory that is removed at the end.
flavour=${1:-}
path=${3:-shm}
if [[ $flavour/$path != @(openmpi|mpich)/@(shm|tcp) || ! -d ${2:-} ]]; then
  echo "usage: $0 openmpi|mpich BUILD_DIR [shm|tcp] [options of rubato calibrate]" >&2
  exit 2
fi
build=$(cd "$2" && pwd)
options=("${@:4}")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $flavour/$path in
openmpi/shm) launch=(mpirun.openmpi -n 2 --oversubscribe --bind-to core) ;;
openmpi/tcp) launch=(mpirun.openmpi -n 2 --oversubscribe --bind-to core --mca btl "tcp,self" --mca pml ob1) ;;
mpich/shm) launch=(mpirun.mpich -n 2 -bind-to core) ;;
mpich/tcp) launch=(mpirun.mpich -n 2 -bind-to core -genv MPIR_CVAR_NOLOCAL 1 -genv UCX_TLS tcp) ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-$(basename "$0" .sh).XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# quiet FILE COMMAND...: what it prints goes to FILE; is shown, and ends the bench, when the command fails.
quiet() {
  "${@:2}" >"$1" 2>&1 || { cat "$1" && exit 1; }
}
