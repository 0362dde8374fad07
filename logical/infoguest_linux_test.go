package logical_test

import (
	"context"
	"strings"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/remote"
)

// TestGuests compares what is known of each frame of emulated arm64 and s390x guests with the info
// frame of gdb-multiarch.
func TestInfoOfGuests(t *testing.T) {
	for _, p := range []*guesttest.Processor{guesttest.ARM64, guesttest.S390X} {
		for _, flags := range []string{"-O0", "-O2"} {
			t.Run(p.GOARCH+flags, func(t *testing.T) {
				t.Parallel()
				g := &guesttest.Guest{Processor: p, Path: p.Build(t, "stacks.c", "-g", flags, "-static", "-pthread"), Infos: true}
				frames := 0
				g.Each(t, false, func(stop *guesttest.Stop) {
					tg, err := remote.Dial(context.Background(), "unix:"+stop.Stub, remote.Options{Exe: g.Path})
					if err != nil {
						t.Fatal(err)
					}
					defer tg.Close()
					theirs := stop.Threads[0].Frames
					eachOf(t, tg, 0, func(f *logical.Frame, table *frame.Table, symbols *symbol.Symbolizer) bool {
						if f.Level >= len(theirs) || f.Function == "main" || theirs[f.Level].Info == "" {
							return false
						}
						frames++
						info := f.Info(table, symbols)
						if strings.Contains(theirs[f.Level].Info, "Previous frame's sp in ") { // a register, says gdb
							info.PreviousSP = nil
						}
						got, want := ourSummary(info), gdbSummary(theirs[f.Level].Info)
						switch {
						case strings.Contains(theirs[f.Level].Info, "Cannot access memory"): // gdb on s390x, at signal stacks
							return false
						case f.Type == frame.TailCall, f.Level+1 < len(theirs) && theirs[f.Level+1].Type == "tailcall":
							// gdb shows the PC that a tail call's frame returns to, where ours is
							// the one on the stack.
							got, _, _ = strings.Cut(got, " saved ")
							want, _, _ = strings.Cut(want, " saved ")
						case info.Places[0].Line == 0: // of several names for code without lines, gdb may choose another
							got, _, _ = strings.Cut(got, " in ")
							want, _, _ = strings.Cut(want, " in ")
						}
						if got != want {
							t.Errorf("%s, frame %d:\n%s, gdb has\n%s\n%s", stop.Scenario, f.Level, got, want, theirs[f.Level].Info)
						}
						return true
					})
				})
				if frames < 10 {
					t.Errorf("%d frames compared", frames)
				}
			})
		}
	}
}
