package record_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
)

// sampleAt tells the samples of a file apart.
type sampleAt struct {
	tid  int32
	time string // seconds with nine digits behind the point
}

// perfRecord has perf record a command, and returns the file.
func perfRecord(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "perf.data")
	out, err := exec.Command(gdbtest.Tool(t, "perf"), append([]string{"record", "-q", "-o", file}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("perf record %q: %v\n%s", args, err, out)
	}
	return file
}

// perfScript returns the user's frames of each sample, as perf script has them: where in its file
// each is, or, of newer releases, its address.
func perfScript(t *testing.T, file string) map[sampleAt][]string {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "perf"), "script", "-i", file, "--no-inline", "--ns", "--max-stack", "2000", "-F", "tid,time,ip,sym,dso").Output()
	if err != nil {
		t.Fatalf("perf script: %v", err)
	}
	return readScript(t, out)
}

// readScript reads what perf script prints.
func readScript(t *testing.T, out []byte) map[sampleAt][]string {
	t.Helper()
	header := regexp.MustCompile(`^ *(\d+) +([\d.]+): *$`)
	line := regexp.MustCompile(`^\s+([0-9a-f]+) .*\((.*)\)$`)
	stacks := map[sampleAt][]string{}
	var at sampleAt
	in := bufio.NewScanner(bytes.NewReader(out))
	for in.Scan() {
		text := in.Text()
		if m := header.FindStringSubmatch(text); m != nil {
			tid, _ := strconv.Atoi(m[1])
			at = sampleAt{int32(tid), m[2]}
			stacks[at] = nil
		} else if m := line.FindStringSubmatch(text); m != nil {
			if strings.HasPrefix(m[2], "[kernel") || strings.HasPrefix(m[2], "[guest") {
				continue
			}
			if m[1] != "ffffffffffffffff" { // of no memory
				stacks[at] = append(stacks[at], m[1]+" "+filepath.Base(m[2]))
			}
		}
	}
	if len(stacks) == 0 {
		t.Fatalf("perf script has no samples:\n%.2000s", out)
	}
	return stacks
}

// open opens a file of perf's.
func open(t *testing.T, file string) *perfdata.Reader {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data, err := perfdata.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// addresses reports whether perf script has the addresses of frames, not where in their files they
// are: programs and libraries lie above 4 GiB.
func addresses(stacks map[sampleAt][]string, program string) bool {
	for _, list := range stacks {
		for _, x := range list {
			addr, file, _ := strings.Cut(x, " ")
			if (file == filepath.Base(program) || strings.Contains(file, ".so")) && len(addr) > 8 {
				return true
			}
		}
	}
	return false
}

// walked returns the frames of each sample as we walk them, in the form of perfScript, and how each
// walk ends. absolute asks for addresses.
func walked(t *testing.T, data *perfdata.Reader, absolute bool) (map[sampleAt][]string, map[sampleAt]frame.StopReason, *record.File) {
	t.Helper()
	stacks, ends := map[sampleAt][]string{}, map[sampleAt]frame.StopReason{}
	f, err := record.ReadFileChecked(data, record.FileOptions{
		Places: record.Places{Caches: []string{filepath.Join(os.Getenv("HOME"), ".debug")}},
		Table:  func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
		Warn:   t.Logf,
	}, func(tid int32, time uint64, modules *target.Modules, addrs []uint64, stop frame.StopReason) {
		at := sampleAt{tid, fmt.Sprintf("%d.%09d", time/1e9, time%1e9)}
		ends[at] = stop
		list := make([]string, len(addrs))
		for i, addr := range addrs {
			if list[i] = where(modules, addr); absolute {
				_, file, _ := strings.Cut(list[i], " ")
				list[i] = fmt.Sprintf("%x %s", addr, file)
			}
		}
		stacks[at] = list
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return stacks, ends, f
}

// where says where in its file an address is, as perf does.
func where(modules *target.Modules, addr uint64) string {
	if m := modules.FindFile(addr); m != nil {
		for _, x := range m.Mappings {
			if x.Lo <= addr && addr < x.Hi {
				return fmt.Sprintf("%x %s", addr-x.Lo+x.Offset, filepath.Base(m.Path))
			}
		}
	}
	return fmt.Sprintf("%x [unknown]", addr)
}

// within reports whether a has all of b, in order.
func within(a, b []string) bool {
	for _, x := range a {
		if len(b) > 0 && b[0] == x {
			b = b[1:]
		}
	}
	return len(b) == 0
}

// The stacks of a program without frame pointers are the same as perf script's, sample by sample,
// in whatever form perf has written them. Where a stack differs, it is because perf has lost
// frames: ours has all of perf's, and goes on to the outermost.
func TestFileStacks(t *testing.T) {
	perf := gdbtest.Perf(t)
	exe := gdbtest.Build(t, "shares.c", "-O2", "-fomit-frame-pointer", "-pthread")
	program := []string{exe, "2", "40", "1"}
	for _, v := range []struct {
		name  string
		flags []string
		pipe  bool
		known bool // each stack of the threads must have 41 calls of deeper
	}{
		{"file", []string{"--call-graph", "dwarf,16384"}, false, true},
		{"compressed pipe", []string{"-z", "--call-graph", "dwarf,16384"}, true, true},
		{"build IDs in records", []string{"--buildid-mmap", "--call-graph", "dwarf,16384"}, false, true},
		{"short copies", []string{"--call-graph", "dwarf,1024"}, false, false},
	} {
		t.Run(v.name, func(t *testing.T) {
			args := append([]string{"-e", "cpu-clock:u", "-F", "199"}, v.flags...)
			var file string
			if v.pipe {
				file = filepath.Join(t.TempDir(), "perf.data")
				cmd := exec.Command(perf, append(append([]string{"record", "-q", "-o", "-"}, args...), program...)...)
				cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
				var said bytes.Buffer
				cmd.Stderr = &said
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v\n%s", err, said.Bytes())
				}
				if i := bytes.Index(out, []byte("ready\n")); i >= 0 { // the program's own output is in between
					out = append(out[:i], out[i+6:]...)
				}
				if err := os.WriteFile(file, out, 0o600); err != nil {
					t.Fatal(err)
				}
			} else {
				file = perfRecord(t, append(args, program...)...)
			}
			theirs := perfScript(t, file)
			ours, ends, f := walked(t, open(t, file), addresses(theirs, exe))
			if len(ours) != len(theirs) {
				t.Errorf("%d samples, perf has %d", len(ours), len(theirs))
			}
			equal, deep := 0, 0
			for at, b := range theirs {
				a, ok := ours[at]
				switch {
				case !ok:
					t.Errorf("%v is lacking", at)
				case strings.Join(a, "\n") == strings.Join(b, "\n"):
					equal++
				case (ends[at].Whole() || !v.known) && within(a, b), len(b) == 0 && len(a) == 1: // where the copy ends, perf may ask for a word more than the frame has
				default:
					t.Errorf("%v: %v\n%v\nperf:\n%v", at, ends[at], a, b)
				}
				if calls := map[string]int{}; v.known {
					most := 0
					for _, x := range a {
						if strings.HasSuffix(x, " "+filepath.Base(exe)) {
							calls[x]++
							most = max(most, calls[x])
						}
					}
					if most == 40 { // all but the innermost call come from one place
						deep++
					}
				}
			}
			stats := f.Profile().Stats
			t.Logf("%d of %d are equal, %d have all calls; %+v", equal, len(theirs), deep, stats)
			if equal < len(theirs)*9/10 || len(theirs) < 100 {
				t.Errorf("%d of %d stacks equal perf's", equal, len(theirs))
			}
			if v.known && deep < 100 || !v.known && stats.Cut < 100 {
				t.Errorf("%d stacks have all calls; %+v", deep, stats)
			}
		})
	}
}
