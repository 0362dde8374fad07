package profile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// perfRecorded has perf record a program that knows its calls, and returns perf's file. args are
// perf's.
func perfRecorded(t *testing.T, exe string, args ...string) string {
	t.Helper()
	perf := gdbtest.Perf(t)
	file := filepath.Join(t.TempDir(), "perf.data")
	args = append([]string{"record", "-q", "-F", "199", "-o", file}, args...)
	if out, err := exec.Command(perf, append(args, exe, "1", "12", "1")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// deeperIn counts the samples of folded stacks that have so many calls of deeper as the program was
// told.
func deeperIn(text string) (samples int) {
	line := regexp.MustCompile(`(?m);run;(?:deeper;){13}(?:half|three_tenths|one_fifth)(?:;.*)? (\d+)$`)
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		samples += n
	}
	return samples
}

// The profile of a file is the program's, in all forms of perf's files.
func TestPerf(t *testing.T) {
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	for _, v := range []struct {
		name, flags, args, said string
		whole                   bool
	}{
		{"copies", "-e cpu-clock --call-graph dwarf", "", " samples of cpu-clock of ", true},
		{"events", "-e page-faults,cpu-clock --call-graph dwarf", "--event cpu-clock", " samples of page-faults are left out (--event page-faults)", true},
		{"frame pointers", "-e cpu-clock --call-graph fp", "", " have the stacks that the kernel has found along frame pointers", false},
		{"no stacks", "-e cpu-clock", "", " have no stacks: perf record --call-graph dwarf takes them", false},
	} {
		t.Run(v.name, func(t *testing.T) {
			file := perfRecorded(t, exe, strings.Fields(v.flags)...)
			out, said, err := commandtest.Run(append([]string{"perf", file, "-o", "-", "--format", "folded"}, strings.Fields(v.args)...)...)
			if err != nil || !strings.Contains(said, v.said) {
				t.Fatalf("%v\n%s", err, said)
			}
			// Each sample is in a function of the program, which has no other work.
			if n := len(regexp.MustCompile(`half|three_tenths|one_fifth`).FindAllString(out, -1)); n == 0 {
				t.Errorf("no function of the program:\n%s", out)
			}
			if n := deeperIn(out); v.whole && n < 50 {
				t.Errorf("%d samples have all calls\n%s%s", n, said, out)
			}
		})
	}
}

// The flame graph of a file tells whose code each frame is, as a recording's does: each function
// that perf script finds in the kernel, a library or the program has the word for it.
func TestPerfCode(t *testing.T) {
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	file := perfRecorded(t, exe, "-e", "cpu-clock", "--call-graph", "dwarf")
	svg, said, err := commandtest.Run("perf", file, "-o", "-", "--format", "flamegraph")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	out, err := exec.Command(gdbtest.Tool(t, "perf"), "script", "-i", file, "--no-inline", "-F", "ip,sym,dso").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s+[0-9a-f]+ (\S+) \((.*)\)$`).FindAllStringSubmatch(string(out), -1) {
		switch function, module := m[1], m[2]; {
		case strings.HasPrefix(module, "[kernel"):
			theirs[function] = "kernel"
		case strings.Contains(module, "libc.so"):
			theirs[function] = "library"
		case module == exe:
			theirs[function] = "program"
		}
	}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`<title>(\w+) \(.*%(?:; ([a-z ]+))?\)</title>`).FindAllStringSubmatch(svg, -1) {
		if want := theirs[m[1]]; want != "" {
			if seen[want]++; m[2] != want {
				t.Errorf("%s: want %q", m[0], want)
			}
		}
	}
	if seen["program"] == 0 || seen["library"] == 0 {
		t.Errorf("frames %v\n%s", seen, out[:min(len(out), 4096)])
	}
}

// Where debug information cannot be read, a profile has no lines, and one warning says why.
func TestPerfDamaged(t *testing.T) {
	exe := gdbtest.Build(t, "shares.c", "-g", "-O2", "-pthread")
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	const version = 4 // offset in .debug_line, behind the length
	data[f.Section(".debug_line").Offset+version] = 9
	exe = filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(exe, data, 0o755); err != nil {
		t.Fatal(err)
	}
	folded, said, err := commandtest.Run("perf", perfRecorded(t, exe, "-N", "-e", "cpu-clock", "--call-graph", "dwarf"), "--buildid-dir", t.TempDir(), "-o", "-", "--format", "folded")
	if err != nil || deeperIn(folded) == 0 {
		t.Errorf("%v\n%s", err, folded)
	}
	if n := strings.Count(said, "version 9, not 2 to 5"); n != 1 {
		t.Errorf("%d warnings of the line table\n%s", n, said)
	}
}

// What perf record writes to a pipe is read from standard input, and becomes a profile with build
// IDs and threads.
func TestPerfPipe(t *testing.T) {
	exe := gdbtest.Build(t, "shares.c", "-g", "-O2", "-pthread")
	perf := gdbtest.Perf(t)
	out := filepath.Join(t.TempDir(), "p.pb.gz")
	script := fmt.Sprintf("%s record -q -z -e cpu-clock -F 199 --call-graph dwarf -o - sh -c '%s 1 12 1 >&2' | %s perf - -o %s", perf, exe, filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), out)
	if said, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	x, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := x.CheckValid(); err != nil {
		t.Error(err)
	}
	found := 0
	for _, s := range x.Sample {
		calls := 0
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function.Name == "deeper" && filepath.Base(line.Function.Filename) == "shares.c" && line.Line > 0 && l.Mapping.BuildID != "" {
					calls++
				}
			}
		}
		if calls == 13 && len(s.NumLabel["tid"]) == 1 {
			found++
		}
	}
	if found == 0 || x.SampleType[1].Type != "cpu" {
		t.Errorf("no stack has all calls\n%v", x)
	}
}

// A file that is not the recorded one is not used, and the warning says so; one in perf's cache is.
func TestPerfOtherBuild(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "program")
	commandtest.CopyFile(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread", "-Wl,--build-id"), exe)
	t.Setenv("HOME", t.TempDir()) // for perf's cache
	file := perfRecorded(t, exe, "-e", "cpu-clock", "--call-graph", "dwarf")
	other := gdbtest.Build(t, "shares.c", "-O1", "-pthread", "-Wl,--build-id")
	if err := os.Remove(exe); err != nil {
		t.Fatal(err)
	}
	commandtest.CopyFile(t, other, exe)
	out, said, err := commandtest.Run("perf", file, "-o", "-", "--format", "folded")
	if n := deeperIn(out); err != nil || n < 50 {
		t.Errorf("from perf's cache: %d samples have all calls, %v\n%s", n, err, said)
	}
	out, said, err = commandtest.Run("perf", file, "-o", "-", "--format", "folded", "--buildid-dir", t.TempDir())
	if err != nil || !strings.Contains(said, "program: the file with build ID ") || !strings.Contains(said, "program is of another build (build ID ") {
		t.Errorf("%v\n%s", err, said)
	}
	if strings.Contains(out, "deeper") {
		t.Errorf("another build's names are used:\n%s", out)
	}
}

// Mistakes are errors, and leave no file.
func TestPerfErrors(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("this is a text, and none of perf's files"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"", "perf: FILE is missing"},
		{text, "perf: " + text + ": no file of perf record"},
		{"/no/such/file", "perf: stat /no/such/file: no such file"},
		{t.TempDir(), "perf: a folder without the file that perf record writes there: "},
		{"/dev/null", "perf: "},
		{text + " -o profile", "--output profile: the name tells no format"},
		{text + " --format picture", "--format picture: want pprof (or pb.gz), folded (or raw"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			out, _, err := commandtest.Run(append([]string{"perf"}, strings.Fields(tt.args)...)...)
			if err == nil || !strings.Contains(err.Error(), tt.want) || out != "" {
				t.Errorf("%v, %q; want %q", err, out, tt.want)
			}
			if left, _ := os.ReadDir("."); len(left) > 0 {
				t.Errorf("%s is left", left[0].Name())
			}
		})
	}
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	file := perfRecorded(t, exe, "-e", "cpu-clock")
	if _, _, err := commandtest.Run("perf", file, "--event", "cycles", "-o", "-", "--format", "folded"); err == nil || !strings.Contains(err.Error(), "no samples of cycles; there are: ") {
		t.Errorf("%v", err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir() // perf record --kcore makes one
	commandtest.CopyFile(t, file, filepath.Join(folder, "data"))
	if out, _, err := commandtest.Run("perf", folder, "-o", "-", "--format", "folded"); err != nil || !strings.Contains(out, "half") {
		t.Errorf("%v\n%s", err, out)
	}
	if err := os.Truncate(file, int64(binary.LittleEndian.Uint64(whole[40:]))); err != nil { // where the records begin
		t.Fatal(err)
	}
	if _, _, err := commandtest.Run("perf", file, "-o", "-", "--format", "folded"); err == nil || !strings.Contains(err.Error(), "; the file has no end: ") {
		t.Errorf("%v", err)
	}
}

// TestPerfPage runs the commands of docs/recording.md and of the help.
func TestPerfPage(t *testing.T) {
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	file := perfRecorded(t, exe, "-e", "cpu-clock,page-faults", "--call-graph", "dwarf")
	text, err := os.ReadFile("../../../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	comingFrom, err := os.ReadFile("../../../docs/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range regexp.MustCompile("(?m)^    (.*sfwalk perf .*)$").FindAllSubmatch(text, -1) {
		lines = append(lines, string(m[1]))
	}
	for _, m := range regexp.MustCompile("`(sfwalk perf [^`]*)`").FindAllSubmatch(comingFrom, -1) {
		lines = append(lines, string(m[1]))
	}
	root := commandtest.New(nil)
	cmd, _, err := root.Find([]string{"perf"})
	if err != nil {
		t.Fatal(err)
	}
	lines = append(lines, strings.Split(cmd.Example, "\n")...)
	dir := t.TempDir()
	t.Chdir(dir)
	bin := commandtest.Install(t, "sfwalk")
	seen := map[string]bool{}
	for _, line := range lines {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
		line = strings.NewReplacer("./server", exe+" 1 5 1 >&2", "/srv/arm64-root", "/", " perf.data", " "+file, "./debug", dir).Replace(strings.TrimSpace(line))
		if strings.Contains(line, " -o - ") && strings.HasPrefix(line, "perf record") {
			line = strings.Replace(line, exe+" 1 5 1 >&2", "sh -c '"+exe+" 1 5 1 >&2'", 1)
			line = strings.Replace(line, "perf record", "perf record -e cpu-clock", 1)
		}
		if seen[line] || strings.Contains(line, "--http") { // TestPerfPages runs those
			continue
		}
		seen[line] = true
		cmd := exec.Command("bash", "-o", "pipefail", "-c", line)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(" samples of ")) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %d commands: %v", len(seen), seen)
	}
}
