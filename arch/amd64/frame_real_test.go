package amd64

import "testing"

func TestReadFrameOfSystemLibraries(t *testing.T) {
	for _, file := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/bash", "/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/gdb"} {
		c := compareAll(t, file, 0)
		t.Logf("%s: %s", file, c)
	}
}
