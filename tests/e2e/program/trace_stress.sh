#!/bin/sh
# A traced program receives every bit correctly, in blocking, nonblocking, synchronous, persistent and unexpected
# messages of any length and alignment; an intentionally flipped bit is found.
. "$(dirname "$0")/../lib.sh"

stress=$build/tests/stress_$flavour
run 3 "$rubato" trace -o run.otf2dir "$stress" 1 100000 >out.txt || fail "damage: $(cat out.txt)"
grep -Eq '^[1-9][0-9]* bytes in [1-9][0-9]* messages among 3 ranks were checked' out.txt || fail "$(cat out.txt)"
grep -q '^none was wrong' out.txt || fail "$(cat out.txt)"

export STRESS_FLIP=20
expect_failure 1 "to rank 1, the first wrong bit is bit 2 of byte" run 2 "$stress" 5 65536
pass
