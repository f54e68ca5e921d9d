#!/usr/bin/env bash
# Refuses words that mark a sentence to rewrite, in documents, comments, messages and scripts
# (share/doc/contributing.md).
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
words='nobody|somebody|whoever|whom|stands|rooms?|those that|in vain|as like|by the most'
# The eager limit's origin in JSON, a test's file name, this list itself.
exceptions='"nobody"|`nobody`|calls_that_wait_for_nobody|^tests/lint/words\.sh'
found=$(grep -rnIwiE "$words" models replay tracer calibrate tools share tests README.md .ci CMakeLists.txt |
  grep -vE "$exceptions")
[[ -z $found ]] && exit 0
echo "rewrite these sentences, without the marked words (share/doc/contributing.md):"
echo "$found"
exit 1
