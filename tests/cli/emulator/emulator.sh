#!/bin/sh
# The emulator that tests the backends is tested by bare-metal images that share nothing with this kernel.  The rest of
# scripts/qemu-pmu --self-test compares with Linux.  It takes minutes more, so run it by hand.
set -u
cd "$(dirname "$0")/../../.." || exit 1
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
			print ended ? "ok" : "not ok", ++points, "- the self test ended"
			print "1.." points
		}'
