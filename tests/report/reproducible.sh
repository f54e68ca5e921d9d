#!/usr/bin/env bash
# SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/) is the time of day in a page, which then
# has the same bytes each time: reproducible.sh RUBATO
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
printf 'nodes 0 1\n0: 0..5 send 1 8B\n0: 10 end\n1: 0..7 recv 0 8B\n1: 10 end\n' >t.txt

# 1000 d 1 h 1 min after 1970-01-01. 730 days are 1970 and 1971; 270 days after the first day of 1972, a leap year with
# 244 days up to the end of August, is September 27. The hour is the same everywhere.
export SOURCE_DATE_EPOCH=$((1000 * 86400 + 3600 + 60))
for zone in UTC Asia/Tokyo; do
  TZ=$zone "$rubato" replay t.txt --on bandela --html page.html >/dev/null || fail "no page"
  grep -q '"1972-09-27 01:01 UTC"' page.html || fail "in $zone: $(grep -o '"date":"[^"]*"' page.html)"
  mv page.html "${zone#*/}.html"
  sleep 1
done
cmp UTC.html Tokyo.html || fail "pages differ"

# An empty one is none.
SOURCE_DATE_EPOCH='' "$rubato" replay t.txt --on bandela --html page.html >/dev/null || fail "no page without a date"
grep -q "\"$(date +%Y)-" page.html || fail "today: $(grep -o '"date":"[^"]*"' page.html)"

# Invalid numbers are refused before the replay.
for wrong in yesterday -1 12x 1e9 99999999999999999999; do
  SOURCE_DATE_EPOCH=$wrong "$rubato" replay t.txt --html wrong.html >out 2>err
  code=$?
  ((code == 1)) && [[ ! -e wrong.html && ! -s out && $(wc -l <err) == 1 ]] || fail "'$wrong': $code, $(cat out err)"
  grep -q "SOURCE_DATE_EPOCH is '$wrong'" err || fail "'$wrong': $(cat err)"
  SOURCE_DATE_EPOCH=$wrong "$rubato" replay t.txt --otf2 copies >out 2>err
  code=$?
  ((code == 1)) && [[ ! -e copies && ! -s out && $(wc -l <err) == 1 ]] || fail "--otf2, '$wrong': $code, $(cat out err)"
done
exit "$bad"
