package record_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
)

// Each place says whose code it is in: code of /proc/PID/exe, of another file, of the upper half of
// the addresses, or of no file, as gdb's JIT interface and jitdumps tell it.
func TestCode(t *testing.T) {
	gdbtest.CanRecord(t)
	if runtime.GOARCH != "amd64" {
		gdbtest.Cannot(t, "the program makes code of amd64")
	}
	for _, how := range []string{"dump", "gdb"} {
		for _, flags := range [][]string{nil, {"-static-pie"}, {"-static", "-no-pie"}} {
			exe := gdbtest.Build(t, "replaced.c", append([]string{"-O2", "-fno-omit-frame-pointer"}, flags...)...)
			p := gdbtest.StartRunning(t, exe, how, t.TempDir(), "60")
			r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 999, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			take(t, r, 150, nil)
			seen := map[picture.Code]bool{}
			for _, at := range pictured(t, r).Places {
				want := picture.NoCode
				switch {
				case at.Address >= 1<<63:
					want = picture.KernelCode
				case at.Function == "alpha" || at.Function == "beta":
					want = picture.MadeCode
				case at.Module != nil && at.Module.Path == exe:
					want = picture.OwnCode
				case at.Module != nil && strings.HasSuffix(at.Module.Path, ".so.6"), at.Module != nil && at.Module.Path == "[vdso]":
					want = picture.LibraryCode
				case strings.HasPrefix(at.Name, "["): // why a stack is not whole
				default:
					continue
				}
				if seen[want] = true; at.Code != want {
					t.Errorf("%s, %v: %+v has code %d, want %d", how, flags, at, at.Code, want)
				}
			}
			if !seen[picture.MadeCode] || !seen[picture.OwnCode] || flags == nil && !seen[picture.LibraryCode] {
				t.Errorf("%s, %v: codes %v", how, flags, seen)
			}
		}
	}
}
