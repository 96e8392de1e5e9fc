#!/bin/sh
# Checks convert.sh against temperatures that everybody knows.
failed=0

check() {
	got=$(sh ./convert.sh "$1")
	if [ "$got" = "$2" ]; then
		echo "ok    $1 C = $2 F"
	else
		echo "FAIL  $1 C: got $got F, want $2 F"
		failed=1
	fi
}

check 0 32
check 100 212
check -40 -40

if [ $failed = 0 ]; then
	echo "PASS"
else
	echo "FAIL: convert.sh is wrong"
fi
exit $failed
