package stacks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
)

// buildThreadLocal builds testdata/progs/threadlocal.c with its libraries, or without any.
func buildThreadLocal(t *testing.T, alone bool, compiler string, flags ...string) (program string, libraries []string) {
	t.Helper()
	source := gdbtest.Testdata(t, "progs", "threadlocal.c")
	cc := []string{gdbtest.Tool(t, compiler), "-g", "-O1"}
	if alone {
		return gdbtest.Compile(t, source, append(append(cc, "-DALONE", "-DALIGNED=128", "-static", "-pthread"), flags...)...), nil
	}
	library := func(macro, name string) string {
		built := gdbtest.Compile(t, source, append(cc, "-fPIC", "-shared", "-D"+macro, "-Wl,-soname,"+name)...)
		named := filepath.Join(filepath.Dir(built), name)
		if err := os.Symlink(filepath.Base(built), named); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
		return named
	}
	libraries = []string{library("LIBRARY", "liblibrary.so"), library("LOADED", "libloaded.so")}
	flags = append([]string{"-DALIGNED=8", "-pthread", "-Wl,--no-as-needed", libraries[0], "-ldl", "-Wl,--disable-new-dtags",
		"-Wl,-rpath," + filepath.Dir(libraries[0]), "-Wl,-rpath," + filepath.Dir(libraries[1])}, flags...)
	return gdbtest.Compile(t, source, append(cc, flags...)...), libraries
}

// ofThreads are the variables of the program's threads that --print finds by their names, and the
// functions that have their addresses.
var ofThreads = map[string]string{"of_program": "run", "of_first": "in_library", "of_second": "in_loaded"}

// threadLocals compares the addresses of all threads' variables with the addresses that the program
// has taken itself. It returns how many there are.
func threadLocals(t *testing.T, where ...string) (n int) {
	t.Helper()
	out, stderr, err := commandtest.Run(append(where, "--locals", "--json")...)
	if err != nil {
		t.Fatalf("%q: %v %s", where, err, stderr)
	}
	var doc struct {
		Threads []struct {
			Frames []struct {
				Function string
				Locals   []struct{ Name, Value, Address string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	for _, th := range doc.Threads {
		for _, f := range th.Frames {
			at := map[string]string{}
			for _, v := range f.Locals {
				at[v.Name] = v.Address
				if v.Address == "" {
					at[v.Name] = v.Value
				}
			}
			for _, v := range f.Locals {
				name, is := strings.CutPrefix(v.Name, "where_")
				got, local := at[name]
				if !is || !local || got == "<optimized out>" {
					continue // a variable of a file; or of arm64, for which compilers do not tell
				}
				n++
				if want, _, _ := strings.Cut(v.Value, " "); got != want {
					t.Errorf("%q: %s of %s is at %s, not at %s", where, name, f.Function, got, want)
				}
			}
		}
	}
	var prints []string
	for name, function := range ofThreads {
		prints = append(prints, "--print", fmt.Sprintf("(long) &%s == (long) where_%s", name, name), "--frame", function)
	}
	out, _, _ = commandtest.Run(append(where, prints...)...)
	n += strings.Count(out, " = 1\n")
	if strings.Contains(out, " = 0\n") {
		t.Errorf("%q: %s", where, out)
	}
	return n
}

// never returns what is said of the variable whose storage no thread has.
func never(t *testing.T, where ...string) string {
	t.Helper()
	out, stderr, err := commandtest.Run(append(where, "--locals", "--frame", "idle_in_loaded")...)
	if err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	_, line, _ := strings.Cut(out, "        never = ")
	line, _, _ = strings.Cut(line, "\n")
	return line
}

// notUsed matches that text. A library has the name of the file that a link leads to.
var notUsed = regexp.MustCompile(`^<error reading variable never \(Cannot find thread-local storage: the thread has not used the storage of (libloaded.so|threadlocal) yet\)>$`)

// TestThreadLocals: variables of threads are where the program itself has found them: live, in a
// snapshot, in the kernel's core.
func TestThreadLocals(t *testing.T) {
	for _, tt := range []struct {
		name, compiler string
		flags          []string
		narrow         bool
	}{
		{"amd64", "gcc", nil, false}, {"i386", "i686-linux-gnu-gcc", gdbtest.Dynamic386, true}, {"musl", "musl-gcc", nil, false},
	} {
		for _, alone := range []bool{false, true} {
			if alone && tt.name == "musl" {
				continue // its code tells nobody where a stack ends
			}
			t.Run(fmt.Sprintf("%s alone %v", tt.name, alone), func(t *testing.T) {
				gdbtest.NeedAMD64(t)
				flags := tt.flags
				if tt.narrow {
					gdbtest.Need386(t)
				}
				want := 21
				prints := []string{"--print", "&number", "--print", "&of_first", "--print", "&of_second"}
				if alone {
					flags, want, prints = nil, 6, prints[:2]
				}
				program, _ := buildThreadLocal(t, alone, tt.compiler, flags...)
				p := gdbtest.Start(t, program)
				pid := strconv.Itoa(p.PID)
				saved := filepath.Join(t.TempDir(), "snapshot")
				save := []string{"attach", pid, "--save", saved}
				if !alone { // else the registers are enough
					save = append(append(save, "--locals"), prints...)
				}
				if _, stderr, err := commandtest.Run(save...); err != nil {
					t.Fatalf("%v %s", err, stderr)
				}
				for _, where := range [][]string{{"attach", pid}, {"open", saved}, {"core", dumped(t, program, "die"), "--exe", program}} {
					if got := threadLocals(t, where...); got != want {
						t.Errorf("%q: %d variables, want %d", where, got, want)
					}
					if !alone && tt.name != "musl" { // musl gives each thread all storage
						if got := never(t, where...); !notUsed.MatchString(got) {
							t.Errorf("%q: %s", where, got)
						}
					}
				}
			})
		}
	}
}

// dumped runs a program that dies and returns the kernel's core file of it.
func dumped(t *testing.T, program string, args ...string) string {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -c unlimited; ulimit -s 4096; exec "$@"`, "sh", program}, args...)...)
	cmd.Dir = dir
	cmd.Run()
	files, _ := filepath.Glob(filepath.Join(dir, "*core*"))
	if len(files) != 1 {
		gdbtest.Cannot(t, fmt.Sprintf("the program has left no core in %s: is RLIMIT_CORE 0?", dir))
	}
	return files[0]
}

// TestThreadLocalsOfGuests does the same for other processors: of qemu's core files, which lack the
// thread pointer, and at qemu's stub.
func TestThreadLocalsOfGuests(t *testing.T) {
	gdbtest.NeedGDB(t, 13) // later, qemu's core files lack the vDSO's code, which the innermost frame is in
	for _, p := range []*guesttest.Processor{guesttest.ARM64, guesttest.ARM, guesttest.I386, guesttest.S390X} {
		for _, alone := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s alone %v", p.GOARCH, alone), func(t *testing.T) {
				program, libraries := buildThreadLocal(t, alone, p.Triple+"-gcc")
				g := &guesttest.Guest{Processor: p, Path: program}
				files := []string{"--exe", program}
				if !alone {
					g.Root = p.Sysroot(t, libraries...)
					files = append(files, "--sysroot", g.Root)
				}
				want := 21
				if alone {
					want = 6
				}
				if p == guesttest.ARM64 { // only what --print finds by symbols
					want = map[bool]int{false: 8, true: 3}[alone]
				}
				where := append([]string{"core", g.Dump(t, "die")}, files...)
				if got := threadLocals(t, where...); got != want {
					t.Errorf("%q: %d variables, want %d", where, got, want)
				}
				if !alone && p != guesttest.ARM64 {
					if got := never(t, where...); !notUsed.MatchString(got) {
						t.Errorf("%q: %s", where, got)
					}
				}
			})
		}
		t.Run(p.GOARCH+" stub", func(t *testing.T) {
			program, _ := buildThreadLocal(t, true, p.Triple+"-gcc", "-DSINGLE")
			g := &guesttest.Guest{Processor: p, Path: program, Stops: []string{"stop"}}
			g.Each(t, false, func(stop *guesttest.Stop) {
				want := map[bool]int{false: 2, true: 1}[p == guesttest.ARM64]
				if got := threadLocals(t, "remote", "unix:"+stop.Stub, "--exe", program); got != want {
					t.Errorf("%d variables, want %d", got, want)
				}
			})
		})
	}
}
