#!/usr/bin/env bash
# Refuses words that mark a sentence to rewrite, in documents, comments, messages and scripts. CONTRIBUTING: the plain English of an
# HPC paper.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
words='nobody|somebody|whoever|whom|stands|rooms?|those that|in vain|as like|by the most'
# The eager limit's origin in JSON, a test's file name, this list itself.
exceptions='"nobody"|`nobody`|calls_that_wait_for_nobody|tests/lint/words.sh'
found=$(grep -rnwiE --include='*' "$words" models replay tracer calibrate tools share tests README.md .ci CMakeLists.txt |
  grep -vE "$exceptions|^Binary|/chart\.min\.js")
[[ -z $found ]] && exit 0
echo "Plain words, please (share/doc/contributing.md):"
echo "$found"
exit 1
