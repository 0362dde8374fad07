#!/bin/sh -e
# Makes the files of this folder (Debian 12, gcc 12.2, on amd64); sfwalk must be in PATH.
gcc -g -O2 -nostdlib -static -no-pie -fcf-protection=none -fno-pic -Wl,-z,noseparate-code -Wl,--build-id -ffile-prefix-map=$PWD=. -o example example.c
cp example /tmp/example
env -i /tmp/example &
sleep 1
sfwalk attach $! --save example.snapshot
kill $!
rm /tmp/example
for f in example example.snapshot; do
	gzip -9 -n < $f | base64 -w 100 > $f.gz.txt
	rm $f
done
