#!/bin/sh
# Prints the layout of the perl that is called $1, by the headers that belong to it.
here=$(dirname "$0")
out=$(mktemp)
# The program calls nothing of perl.
cc -w -O1 -I"$("$1" -MConfig -e 'print $Config{archlibexp}')/CORE" $("$1" -MConfig -e 'print $Config{ccflags}') \
	-no-pie -Wl,--unresolved-symbols=ignore-all -o "$out" "$here/layout.c" && "$out"
rm -f "$out"
