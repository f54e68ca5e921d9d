#!/bin/sh
# The methods that HCA3 is compared with, on the clocks of global_clock.sh: each is far better than no correction of the
# drift, which leaves 10 ms with three ranks and 15 ms with four, and after an adjustment, too.
. "$(dirname "$0")/../lib.sh"

for method in jk hca hca2; do
  ranks=4 uncorrected=15000
  [ $method != jk ] || ranks=3 uncorrected=10000
  for try in 1 2 3 4 5; do
    run $ranks "$build/tests/clock_check_$flavour" $method >errors.txt || fail "$method: $(cat errors.txt)"
    echo "$method: $(cat errors.txt)"
    awk -v u=$uncorrected '{ exit !($1 < 2000 && $2 < 2000 && $3 == u) }' errors.txt && break
    [ $try -lt 5 ] || fail "$method is off by $(cat errors.txt) us"
  done
done
pass
