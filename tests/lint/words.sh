#!/usr/bin/env bash
# Refuses words that mark a sentence to rewrite, in documents, comments, messages and scripts
# (share/doc/contributing.md).
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
words='nobody|somebody|whoever|whom|stands|rooms?|those that|in vain|as like|by the most'
# The eager limit's origin in JSON, and a test's file name.
exceptions='"nobody"|`nobody`|calls_that_wait_for_nobody'
found=$(grep -rnIwiE --exclude=words.sh "$words" models replay tracer calibrate tools share tests README.md .ci CMakeLists.txt |
  sed -E "s/$exceptions//g" | grep -wiE "$words")
[[ -z $found ]] && exit 0
echo "rewrite these sentences, without the marked words (share/doc/contributing.md):"
echo "$found"
exit 1
