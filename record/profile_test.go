package record

import (
	"testing"

	"github.com/sfwalk/sfwalk/picture"
)

// A profile is of the module that the process is named after, of whose name the kernel keeps 15
// bytes.
func TestProgram(t *testing.T) {
	places := []picture.Place{{Name: "[kernel]"}, {Module: &picture.Module{Path: "/lib/libc.so.6"}}, {Module: &picture.Module{Path: "/usr/bin/server"}},
		{Module: &picture.Module{Path: "/opt/continuous_profiler"}}}
	for process, want := range map[string]string{"server": "/usr/bin/server", "continuous_prof": "/opt/continuous_profiler", "continuous": "", "": ""} {
		if got := program(places, process); got != want {
			t.Errorf("process %q: %q, want %q", process, got, want)
		}
	}
}
