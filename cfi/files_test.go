package cfi_test

import (
	"os"
	"testing"
)

// The machine's own programs, against readelf, for every row of every FDE.
func TestInstalledFiles(t *testing.T) {
	for _, path := range []string{
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/bin/bash",
		"/usr/bin/gdb",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
	} {
		t.Run(path, func(t *testing.T) {
			if _, err := os.Stat(path); err != nil {
				t.Skip(err)
			}
			o := parseOracle(t, readelf(t, "frames-interp", path, ".eh_frame"), readelf(t, "frames", path, ".eh_frame"))
			for _, mode := range []struct {
				name   string
				header bool
			}{{"header", true}, {"index", false}} {
				t.Run(mode.name, func(t *testing.T) {
					s, m := open(t, path, ".eh_frame", mode.header)
					compare(t, s, m, o)
				})
			}
		})
	}
}
