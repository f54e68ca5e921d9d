#!/bin/sh
# share/papers/mpinside, share/papers/bandela: all figures come out of small runs, and their numbers agree with each
# other and with the profiles. LAMMPS is of one MPI only: under the other the figures of our own programs do.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$tests/.." && pwd)
export RUBATO="$rubato" MPICC="mpicc.$flavour" MPIRUN="mpirun.$flavour"

figures=2,3,8,9,10
if [ "$flavour" = openmpi ] && command -v lmp >/dev/null; then
  figures=2,3,4,6,8,9,10,11,12,13,14,15,t1
fi

cat >here.toml <<'T'
format = 1
name = "here"
[level.self]
transfer = [ { from = "0B", latency = "100ns", bandwidth = "10GB/s" } ]
[level.node]
transfer = [ { from = "0B", latency = "0.9us", bandwidth = "10GB/s" } ]
send_overhead = "50ns"
receive_overhead = "50ns"
protocol = [ { from = "0B", kind = "eager" }, { from = "4KiB", kind = "pull" } ]
T

mkdir there
expect_failure 1 "mpinside: there exists" "$root/share/papers/mpinside" there
expect_failure 1 "there is no figure '5'" "$root/share/papers/mpinside" -f 5
expect_failure 1 "an even number of ranks" "$root/share/papers/mpinside" -m 3

"$root/share/papers/mpinside" -f "$figures" -n 8 -s 4 -t 20 -p here.toml figures >figures.txt 2>&1 || fail "$(cat figures.txt)"
"$python" "$here/papers_figures.py" figures "$figures" || fail "figures: see above"

if [ "$figures" != 2,3,8,9,10 ]; then
  "$root/share/papers/bandela" -n 4 -s 4 -t 20 -p here.toml bandela >bandela.txt 2>&1 || fail "$(cat bandela.txt)"
  # 50 ns + 0.9 us + 50 ns, less nothing: the line through 8 B and 1 MiB is that of the file.
  grep -q 'Bandela: latency=1000.0ns, *bandwidth=10.000GB/s' bandela/figure1.tsv || fail "$(cat bandela/figure1.tsv)"
  "$python" "$here/papers_figures.py" bandela 1 || fail "bandela: see above"
fi
pass
