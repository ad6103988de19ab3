#!/bin/sh
# Pipelines, substitutions, here documents, background jobs and traps.
seq 1 1000 | grep 7 | wc -w
seq 1 20 | sort -rn | head -n 3 | tr '\n' ' '
echo
printf 'b 2\na 1\nc 3\n' | sort | awk '{ sum += $2; s = s $1 } END { print s, sum }'
echo "nested $(printf %s "$(echo deep | tr de DE)") $((6 * 7))"
sed 's/here/there/' <<END_OF_TEXT
here document
END_OF_TEXT
mkdir -p /tmp/sh/dir
cd /tmp/sh || exit 1
for i in 1 2 3; do echo "$i" >"file$i"; done
cat file* | paste -sd+
(exit 3)
echo "status $?"
(sleep 0.05 && echo late) &
echo early
wait
trap 'echo trapped' USR1
kill -USR1 $$
yes | head -n 5 | uniq -c | awk '{ print $1, $2 }'
head -c 100000 /dev/zero | gzip -c | gunzip -c | wc -c
find . -name 'file*' | sort | xargs -n 2 echo
touch new
find . -name new
mkdir many
for i in $(seq 300); do : >"many/$i"; done
find many -type f | wc -l
rm -r many
ls many 2>/dev/null
cd / || exit 1
find dev -name 'n*'
rm -r /tmp/sh
test ! -e /tmp/sh && echo gone
