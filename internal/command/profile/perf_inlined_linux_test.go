package profile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The inlined calls at each place of a profile, with the lines where they are called, are the ones
// that addr2line finds there. The innermost line is gdb's: addr2line takes rows of the line table
// that begin no statement (is_stmt), too.
func TestPerfInlined(t *testing.T) {
	gdbtest.NeedAMD64(t)
	perf := gdbtest.Perf(t)
	exe := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "rounds.cc"), gdbtest.Tool(t, "g++"), "-g", "-O2", "-no-pie")
	dir := t.TempDir()
	file, out := filepath.Join(dir, "perf.data"), filepath.Join(dir, "p.pb.gz")
	if said, err := exec.Command(perf, "record", "-q", "-e", "cpu-clock:u", "-F", "499", "--call-graph", "dwarf", "-o", file, exe, "1000").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if _, said, err := commandtest.Run("perf", file, "-o", out); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	args, asked := []string{"-e", exe, "-i", "-a"}, []string{"-q", "-nx", "-batch", "-ex", "set debuginfod enabled off"}
	got := map[string][]string{}
	for _, l := range p.Location {
		if l.Mapping == nil || l.Mapping.File != exe || len(l.Line) == 0 || l.Line[0].Line == 0 {
			continue
		}
		addr := fmt.Sprintf("0x%016x", l.Address) // the file is mapped where it says
		for _, x := range l.Line {
			got[addr] = append(got[addr], fmt.Sprintf("%s:%d", filepath.Base(x.Function.Filename), x.Line))
		}
		args, asked = append(args, addr), append(asked, "-ex", "printf \"%#018lx \", "+addr, "-ex", "info line *"+addr)
	}
	text, err := exec.Command(gdbtest.Tool(t, "addr2line"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	want, at := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "0x") {
			at = line
			continue
		}
		line = regexp.MustCompile(` \(discriminator \d+\)$`).ReplaceAllString(line, "")
		want[at] = append(want[at], filepath.Base(line))
	}
	text, err = exec.Command(gdbtest.Tool(t, "gdb"), append(asked, exe)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, m := range regexp.MustCompile(`(?m)^(0x[0-9a-f]+) Line (\d+) of "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		if list := want[m[1]]; len(list) > 0 {
			list[0] = filepath.Base(m[3]) + ":" + m[2]
			lines++
		}
	}
	inlined := 0
	for addr, list := range got {
		if len(list) > 1 {
			inlined++
		}
		if !slices.Equal(list, want[addr]) {
			t.Errorf("%s: %v, addr2line and gdb have %v", addr, list, want[addr])
		}
	}
	t.Logf("%d places, %d of them with inlined calls", len(got), inlined)
	if lines < len(got)*9/10 {
		t.Errorf("gdb has lines of %d of %d places:\n%s", lines, len(got), text)
	}
	if inlined < 20 {
		t.Errorf("%d of %d places have inlined calls", inlined, len(got))
	}
}
