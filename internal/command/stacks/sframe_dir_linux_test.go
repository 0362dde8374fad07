package stacks_test

import (
	"bytes"
	"context"

	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/format/sframe/separate"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer/sframe"
	"github.com/sfwalk/sfwalk/target/live"
)

// generated makes SFrame sections for all modules of the stacks, and returns the flags to use them.
func generated(t *testing.T, stacks *report.Document, version string) *report.Flags {
	t.Helper()
	dir := t.TempDir()
	seen := map[string]bool{}
	for _, th := range stacks.Threads {
		for _, f := range th.Frames {
			if seen[f.BuildID] || !strings.HasPrefix(f.Module, "/") {
				continue
			}
			seen[f.BuildID] = true
			if _, report, err := commandtest.Run("sframe", "gen", f.Module, "-o", dir, "--format", version); err != nil {
				t.Fatalf("%v\n%s", err, report)
			}
		}
	}
	return &report.Flags{Explain: true, Choice: sniffers.Choice{Separate: &sframe.Separate{Dirs: []string{t.TempDir(), dir}}}}
}

// TestSFrameDirGDB unwinds by made sections where DWARF would unwind without them, and compares the
// stacks with gdb's.
func TestSFrameDirGDB(t *testing.T) {
	for variant, tt := range []struct {
		name, version string
		src           string
		flags, args   []string
	}{
		{"no SFrame of its own", "3", "chain.c", []string{"-g", "-O2", "-fomit-frame-pointer"}, nil},
		{"V2", "2", "chain.c", []string{"-g", "-O2", "-fomit-frame-pointer"}, nil},
		{"static", "3", "chain.c", []string{"-O2", "-g", "-static", "-Wl,--build-id", "-Wl,--no-eh-frame-hdr"}, nil},
		{"DRAP", "3", "realign.c", []string{"-g", "-O2", "-mavx2", "-fomit-frame-pointer"}, nil},
		{"handler", "3", "sighandler.c", []string{"-g", "-O2", "-fomit-frame-pointer"}, []string{"alt", "async"}},
		{"threads", "3", "threads.c", []string{"-g", "-O2"}, []string{"5"}},
		{"C++", "3", "cxxwait.cc", []string{"-g", "-O2"}, nil},
		{"SFrame V3 and none", "3", "mix-v3", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gdbtest.Share(t, variant)
			p := commandtest.StartTarget(t, tt.src, tt.flags, tt.args)
			flags := generated(t, commandtest.Take(t, p.PID, &report.Flags{}), tt.version)
			got, want := commandtest.Take(t, p.PID, flags), gdbtest.Backtrace(t, p.PID)
			commandtest.CompareAll(t, got, want)
			for _, th := range got.Threads {
				for i, f := range th.Frames {
					// SFrame only marks the outermost frame; DWARF also has its CFA.
					if outermost := i == len(th.Frames)-1; f.Type == "normal" && !outermost && f.Sniffer != "sframe" {
						t.Errorf("thread %d frame %d in %s was unwound by %s", th.TID, i, f.Function, f.Sniffer)
					}
				}
			}
			if w := flags.Warned(); w != nil {
				t.Error(w)
			}

			if tt.flags == nil {
				return // its own section takes precedence, and has no FDE for _start
			}
			// The end of the stack is found without DWARF, too.
			out, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--explain", "--sniffers", "sigtramp,sframe", "--sframe-dir", flags.Separate.Dirs[1])
			libc := strings.Contains(out, "__libc_start_call_main") || strings.Contains(out, "/libc.so") // libc may lack debug information
			if err != nil || !libc || !strings.Contains(out, "sframe: CFA=") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestSFrameDirWarnings: wrong files in the folder are not used.
func TestSFrameDirWarnings(t *testing.T) {
	p := commandtest.StartTarget(t, "chain.c", []string{"-g", "-O2"}, nil)
	plain := commandtest.Take(t, p.PID, &report.Flags{})
	exe := plain.Threads[0].Frames[len(plain.Threads[0].Frames)-1]
	dir := t.TempDir()
	place := separate.Paths(dir, exe.BuildID)[1]
	other, err := os.ReadFile("../../../testdata/bin/mix-v3") // it has a build ID and a section
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	if _, _, err := commandtest.Run("sframe", "gen", exe.Module, "-o", damaged); err != nil {
		t.Fatal(err)
	}
	bad, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if magic := bytes.Index(bad, []byte{0xe2, 0xde, 3}); magic < 0 {
		t.Fatal("no magic number")
	} else {
		bad[magic+2] = 99
	}
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"another build", other, "does not belong to the module"},
		{"no ELF file", []byte("SFrame"), "read ELF header"},
		{"unknown version", bad, "malformed or of an unknown version"},
		{"cut short", bad[:100], place},
	} {
		if err := separate.Write(place, tt.data); err != nil {
			t.Fatal(err)
		}
		flags := &report.Flags{Choice: sniffers.Choice{Separate: &sframe.Separate{Dirs: []string{dir}}}}
		s, err := targets.Process(context.Background(), p.PID, live.Options{Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		doc, warnings, err := report.Collect(s, flags)
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(warnings, "\n"); !strings.Contains(text, tt.want) || !strings.Contains(text, place) || len(warnings) != 1 {
			t.Errorf("%s: warnings %q, want %q", tt.name, warnings, tt.want)
		}
		if len(doc.Threads[0].Frames) != len(plain.Threads[0].Frames) || !doc.Threads[0].Whole {
			t.Errorf("%s: %d frames, %d without", tt.name, len(doc.Threads[0].Frames), len(plain.Threads[0].Frames))
		}
	}
	if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--sframe-dir", filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "want a folder") {
		t.Errorf("a folder that is not there: %v", err)
	}

}
