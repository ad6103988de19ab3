#!/bin/sh
# The emulator that proves the backends is proved itself, by bare-metal images that owe nothing to this kernel.  The
# rest of scripts/qemu-pmu --self-test, Linux as the witness, takes minutes more and is run by hand.
set -u
cd "$(dirname "$0")/../.." || exit 1
scripts/qemu-pmu --self-test guest svm oracle arm64 |
	awk '$1 == "ok" || $1 == "FAIL" {
			points++
			verdict = $1 == "ok" ? "ok" : "not ok"
			sub(/^(ok|FAIL) +/, "")
			print verdict, points, "-", $0
			next
		}
		/^[0-9]+ passed, [0-9]+ failed$/ { ended = 1 }
		{ print "# " $0 }
		END {
			print ended ? "ok" : "not ok", ++points, "- the self test came to its end"
			print "1.." points
		}'
