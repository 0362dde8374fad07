package stacks_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestSignalFrameWithoutRules: SFrame marks a trampoline as a signal frame, without rules. If DWARF
// has the rules, the stack is gdb's. If not, the data that the kernel has left on the stack give
// them. Without those, the stack ends early and says why: no sniffer reads the code, or guesses by
// the frame pointer.
func TestSignalFrameWithoutRules(t *testing.T) {
	withTables := gdbtest.Testdata(t, "bin", "restorer-v3")
	withoutTables := filepath.Join(t.TempDir(), "restorer")
	if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), "-R", ".eh_frame", "-R", ".eh_frame_hdr", withTables, withoutTables).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole := func(third string) string { return "block on_signal " + third + " run main" }
	const (
		early   = "block on_signal <signal handler called>"
		because = "it is a signal frame, whose rules no sniffer knows"
	)
	for _, tt := range []struct {
		kind, program string
		want          string // functions from block on, as far as main
		gdb           bool   // gdb has them, too; it does not know trampolines that begin at PC
	}{
		{"nop", withTables, whole("<signal handler called>"), true},
		{"bare", withTables, whole("<signal handler called>"), false},
		{"other", withTables, whole("<signal handler called>"), true},
		{"call", withTables, whole("ends_in_call"), true},
		{"nop", withoutTables, whole("<signal handler called>"), false},
		{"bare", withoutTables, whole("<signal handler called>"), false},
		{"other", withoutTables, early, false},
		{"call", withoutTables, whole("ends_in_call"), false},
	} {
		t.Run(tt.kind+" "+filepath.Base(tt.program), func(t *testing.T) {
			p := gdbtest.Start(t, tt.program, tt.kind)
			got := commandtest.Take(t, p.PID, &report.Flags{Explain: true})
			if tt.gdb {
				commandtest.CompareAll(t, got, gdbtest.Backtrace(t, p.PID))
			}
			if names := as(got); !strings.HasPrefix(names, tt.want) {
				t.Errorf("got %s, want %s …", names, tt.want)
			}
			if tt.want == early && (as(got) != early || got.Threads[0].Stop != "unavailable" || !strings.HasSuffix(got.Threads[0].Error, because)) {
				t.Errorf("got %s, stop %s: %s", as(got), got.Threads[0].Stop, got.Threads[0].Error)
			}

			// DWARF alone gives the same.
			if tt.program == withTables {
				if names := as(commandtest.Take(t, p.PID, &report.Flags{Choice: sniffers.Choice{Order: []string{"dwarf"}}})); !strings.HasPrefix(names, tt.want) {
					t.Errorf("by DWARF: %s, want %s …", names, tt.want)
				}
			}

			// SFrame never takes the trampoline for the outermost frame. (libc has no .sframe.)
			out, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--sniffers", "sframe,dwarf", "--explain")
			signal := strings.Contains(tt.want, "<signal")
			if signal && (err == nil && tt.program == withoutTables || !strings.Contains(out, "sframe declined: a signal frame, whose rules are not given")) {
				t.Errorf("by SFrame alone: %v\n%s", err, out)
			}

			process, err := live.Attach(context.Background(), p.PID, live.Options{Timeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer process.Close()
			threads, err := process.Threads()
			if err != nil {
				t.Fatal(err)
			}
			for _, names := range [][]string{nil, {"sframe", "dwarf"}, {"dwarf"}, {"sframe", "prologue", "fp-guess", "sigtramp"}} {
				table := (&report.Flags{Choice: sniffers.Choice{Order: names}}).Table(process.Arch(), false, nil)
				if err := walktest.New(process.Modules(), table).Check(process, threads[0]); err != nil {
					t.Errorf("sniffers %q: %v", names, err)
				}
			}
		})
	}
}

// TestEntersSigreturn: gdb stops a thread that enters sigreturn(2), with PC behind the trampoline.
// The stack is what gdb shows at the trampoline.
func TestEntersSigreturn(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "sighandler.c", "-g", "-O2")
	for _, stack := range []string{"normal", "alt"} {
		path := filepath.Join(t.TempDir(), "core")
		cmd := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "set confirm off",
			"-ex", "handle SIGSEGV nostop noprint pass", "-ex", "break *on_signal", "-ex", "run", "-ex", "return",
			"-ex", "echo at the trampoline\n", "-ex", "backtrace", "-ex", "catch syscall rt_sigreturn", "-ex", "continue",
			"-ex", "generate-core-file "+path, "-ex", "kill", "--args", program, stack, "middle")
		out, err := cmd.Output()
		_, text, ok := strings.Cut(string(out), "at the trampoline\n")
		if err != nil || !ok {
			t.Fatalf("gdb: %v\n%s", err, out)
		}
		var want []string
		for _, m := range regexp.MustCompile(`(?m)^#\d+ +(?:0x\w+ in )?(<signal handler called>|\w+) ?`).FindAllStringSubmatch(text, -1) {
			want = append(want, m[1])
		}
		if len(want) < 4 || want[0] != "<signal handler called>" {
			t.Fatalf("gdb:\n%s", text)
		}
		process, err := targets.Core(path, core.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer process.Close()
		doc, _, err := report.Collect(process, &report.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		if got := as(doc); !strings.HasPrefix(got, strings.Join(want, " ")) {
			t.Errorf("%s: got %s, gdb has %s", stack, got, want)
		}
	}
}

// as returns the functions of a stack from block on, outward.
func as(doc *report.Document) string {
	var names []string
	for _, f := range doc.Threads[0].Frames {
		name, _, _ := strings.Cut(f.Function, "+")
		if f.Type == "sigtramp" {
			name = "<signal handler called>"
		}
		names = append(names, name)
	}
	if i := slices.Index(names, "block"); i > 0 {
		names = names[i:]
	}
	return strings.Join(names, " ")
}
