package record_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// scriptFolded counts the stacks that perf script prints with -F ip,sym, by the names of their
// functions, the innermost first.
func scriptFolded(out []byte) map[string]int64 {
	name := regexp.MustCompile(`^\s+[0-9a-f]+ (\S+)`)
	folded := map[string]int64{}
	for text := range strings.SplitSeq(strings.Trim(string(out), "\n"), "\n\n") {
		var list []string
		for line := range strings.Lines(text) {
			if m := name.FindStringSubmatch(line); m != nil {
				plain, _, _ := strings.Cut(m[1], "+0x")
				list = append(list, plainName(plain))
			}
		}
		folded[strings.Join(list, ";")]++
	}
	return folded
}

// plainName returns a function's name without what libc and the vDSO put before it: they have
// several names for one function.
func plainName(name string) string {
	return strings.TrimPrefix(strings.TrimLeft(name, "_"), "vdso_")
}

// pictureFolded counts the stacks of a picture as scriptFolded does. Marks are left out.
func pictureFolded(stacks *picture.Stacks) map[string]int64 {
	folded := map[string]int64{}
	for _, s := range stacks.Samples {
		var list []string
		for _, at := range s.Frames {
			if p := &stacks.Places[at]; p.Function != "" {
				list = append(list, plainName(p.Function))
			} else if !strings.HasPrefix(p.Name, "[") {
				list = append(list, "[unknown]")
			}
		}
		folded[strings.Join(list, ";")] += s.Values[0]
	}
	return folded
}

// fileOf reads a file of perf record, and returns its picture.
func fileOf(t *testing.T, file string) (*record.File, *picture.Stacks) {
	t.Helper()
	f, err := record.ReadFile(open(t, file), record.FileOptions{Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }, Warn: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	names := symbol.New(symbol.Options{})
	t.Cleanup(func() { names.Close() })
	return f, f.Profile().Picture(names)
}

// sameFolded compares our stacks with perf's.
func sameFolded(t *testing.T, ours, theirs map[string]int64) {
	t.Helper()
	for stack := range ours {
		if ours[stack] != theirs[stack] {
			t.Errorf("%d of %s; perf has %d", ours[stack], stack, theirs[stack])
		}
	}
	for stack := range theirs {
		if ours[stack] == 0 {
			t.Errorf("none of %s; perf has %d", stack, theirs[stack])
		}
	}
}

// The stacks that the kernel has found have the functions that perf script names: the trampolines
// of signals, too, which no call is before. Where the kernel has looked for no more frames, the
// stack says so.
func TestChains(t *testing.T) {
	perf := gdbtest.Perf(t)
	file := perfRecord(t, "-e", "cpu-clock:u", "-F", "499", "--call-graph", "fp", gdbtest.Build(t, "chains.c", "-O1", "-fno-omit-frame-pointer", "-static"))
	out, err := exec.Command(perf, "script", "-i", file, "--no-inline", "-F", "ip,sym").Output()
	if err != nil {
		t.Fatal(err)
	}
	f, stacks := fileOf(t, file)
	theirs := scriptFolded(out)
	sameFolded(t, pictureFolded(stacks), theirs)
	most := 0
	for stack := range theirs {
		most = max(most, strings.Count(stack, ";")+1)
	}
	bounded, handled := int64(0), int64(0)
	for _, s := range stacks.Samples {
		outermost := stacks.Places[s.Frames[len(s.Frames)-1]].Name
		if cut := strings.HasPrefix(outermost, "[the kernel looks for no more than 127 frames"); cut != (len(s.Frames) > 127) {
			t.Errorf("%d frames end with %s", len(s.Frames), outermost)
		} else if cut {
			bounded += s.Values[0]
		}
	}
	for stack, n := range theirs {
		if strings.Contains(stack, "handler;restore_rt") {
			handled += n
		}
	}
	if handled < 20 {
		t.Errorf("%d samples in handlers\n%v", handled, theirs)
	}
	if stats := f.Profile().Stats; most != 127 || bounded < 20 || stats.Bounded != uint64(bounded) {
		t.Errorf("perf's stacks have up to %d frames; %d end where the kernel does; %+v", most, bounded, stats)
	}
}

// Where no call is before a return address, the frame has the name of the function that begins
// there, as perf script has it, and not of the one before: libc's function that a context's first
// one returns to, and, where libc uses the frame pointer's register for its list of functions to
// call at the end, what the kernel takes for a frame there.
func TestNoCallBefore(t *testing.T) {
	perf := gdbtest.Perf(t)
	file := perfRecord(t, "-e", "cpu-clock:u", "-F", "499", "--call-graph", "fp", gdbtest.Build(t, "firstcontext.c", "-O1", "-fno-omit-frame-pointer", "-static"))
	out, err := exec.Command(perf, "script", "-i", file, "--no-inline", "-F", "ip,sym").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, stacks := fileOf(t, file)
	theirs := scriptFolded(out)
	sameFolded(t, pictureFolded(stacks), theirs)
	contexts := int64(0)
	for stack, n := range theirs {
		if strings.Contains(stack, "inside;start_context") {
			contexts += n
		}
	}
	if contexts < 20 {
		t.Errorf("%d samples in the context\n%v", contexts, theirs)
	}
}
