#!/bin/sh
# share/papers/reprompi: figures come out of a few small launches, and their numbers are those of the observations. All of
# them: papers_reprompi_all.sh.
. "$(dirname "$0")/../lib.sh"
root=$(cd "$tests/.." && pwd)
export RUBATO="$rubato" MPICC="mpicc.$flavour" MPIRUN="mpirun.$flavour"
: "${figures:=t1,1,2,3,10,12,nrep}"

"$python" "$here/papers_reprompi.py" statistics "$root" || fail "statistics: see above"
repetitions="$root/share/papers/reprompi.d/repetitions.py"
printf 'level,pattern\nnode,pingpong\n' >samples.csv
expect_failure 1 "samples.csv: no column processes; single observations are needed" "$python" "$repetitions" samples.csv
expect_failure 2 "'sem' is none of rse" "$python" "$repetitions" samples.csv --rule sem=0.1
printf 'level,pattern,processes,bytes,launch,seconds_min\n' >samples.csv
expect_failure 1 "these are samples" "$python" "$repetitions" samples.csv
for row in node,pingpong,,8,1 node,pingpong,,8,1,x node,pingpong,,8,1,nan node,pingpong,,8,1,0; do
  printf 'level,pattern,processes,bytes,launch,seconds\n%s\n' "$row" >bad.csv
  expect_failure 1 "repetitions: bad.csv:2: " "$python" "$repetitions" bad.csv
done
mkdir there
expect_failure 1 "reprompi: there exists" "$root/share/papers/reprompi" there
expect_failure 1 "there is no figure '13'" "$root/share/papers/reprompi" -f 13
expect_failure 1 "4 launches at least" "$root/share/papers/reprompi" -l 3
"$root/share/papers/reprompi" -f "$figures" -l 4 -t 2 -c 100 figures >figures.txt 2>&1 || fail "$(cat figures.txt)"
"$python" "$here/papers_reprompi.py" figures "$root" figures "$figures" || fail "figures: see above"
pass
