package fibers_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/async/fibers"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// attached lists the fibers of a process.
func attached(t testing.TB, pid int, symbols *symbol.Symbolizer) []language.Task {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	list, err := languagetest.Tasker(t, tg, func() []procmaps.Mapping { return tg.Maps(nil) }, symbols, fibers.Decorator{}).Tasks(tg.Now())
	if err != nil {
		t.Error(err)
	}
	return list
}

// build builds the program.
func build(t testing.TB, compiler string, flags ...string) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/include/boost/fiber/all.hpp")
	src, err := filepath.Abs("testdata/fibers.cpp")
	if err != nil {
		t.Fatal(err)
	}
	cmd := append([]string{gdbtest.Tool(t, compiler), "-std=c++17", "-g", "-pthread", "-w"}, flags...)
	return gdbtest.Compile(t, src, append(cmd, "-lboost_context", "-lboost_fiber")...)
}

// program is a program that notes where its fibers wait.
type program struct {
	*gdbtest.Process
	notes string // the file
}

func start(t testing.TB, path, scheduler string, fibers int) *program {
	t.Helper()
	notes := filepath.Join(t.TempDir(), "notes")
	p := &program{gdbtest.StartRunning(t, path, notes, scheduler, "2", strconv.Itoa(fibers)), notes}
	const threads = 2
	gdbtest.Await(t, "its fibers run", func() bool {
		all, mains := p.noted(t), 0
		for _, n := range all {
			if strings.HasPrefix(n.way, "runs:") {
				mains++ // it notes that when it has made its fibers
			}
		}
		return mains == threads && len(all) > fibers
	})
	return p
}

// note is what a fiber has noted.
type note struct{ way, waits string }

// noted returns the notes by the fibers' IDs.
func (p *program) noted(t testing.TB) map[uint64]note {
	t.Helper()
	data, err := os.ReadFile(p.notes)
	if err != nil {
		t.Fatal(err)
	}
	const deep, name, size = 24, 28, 48 + 24*32
	text := func(p []byte) string { text, _, _ := bytes.Cut(p, []byte{0}); return string(text) }
	all := map[uint64]note{}
	for i := range binary.LittleEndian.Uint64(data) {
		n := data[8+size*i:][:size]
		id := binary.LittleEndian.Uint64(n)
		if id == 0 {
			continue
		}
		var way []string
		for j := range min(deep, binary.LittleEndian.Uint32(n[8:])) {
			at := n[48+32*j:]
			way = append(way, fmt.Sprintf("%s:%d", text(at[:name]), binary.LittleEndian.Uint32(at[name:])))
		}
		all[id] = note{strings.Join(way, " "), text(n[16:48])}
	}
	return all
}

// lambda is in the names of lambdas, as compilers and debug information write them.
var lambda = regexp.MustCompile(`lambda|\boperator\b|\$_`)

// wayOf returns what a task tells of the functions that note where they wait. Lambdas have no notes
// of their own.
func wayOf(x *language.Task) string {
	var way []string
	for _, f := range slices.Backward(x.Frames) {
		name, _, _ := strings.Cut(f.Function, "(")
		if i := strings.LastIndex(name, "::"); i >= 0 {
			name = name[i+2:]
		}
		name = name[strings.LastIndexByte(name, ' ')+1:]
		if filepath.Base(f.File) == "fibers.cpp" && !lambda.MatchString(f.Function) {
			way = append(way, fmt.Sprintf("%s:%d", name, f.Line))
		}
	}
	return strings.Join(way, " ")
}

// count is what was compared.
type count struct{ waiting, running, switched, taken, unnoted int }

// compare compares the fibers of a stopped process with the notes.
func compare(t testing.TB, p *program, list []language.Task, c *count) {
	t.Helper()
	noted := p.noted(t)
	if len(noted) == 0 {
		t.Error("no fiber has noted anything")
	}
	by := map[uint64]*language.Task{}
	running := map[int]bool{}
	var missing, alone []string // fibers that were not found, and ones that wait for the end of such
	for i := range list {
		x := &list[i]
		if by[x.ID] != nil {
			t.Errorf("fiber %#x twice", x.ID)
		}
		by[x.ID] = x
		if _, is := noted[x.ID]; !is && x.Kind == "fiber" {
			c.unnoted++
		}
	}
	for id, n := range noted {
		x := by[id]
		if x == nil {
			missing = append(missing, n.way)
			continue
		}
		if x.State == "running" {
			if c.running++; x.Early != "" {
				c.switched++
			} else if running[x.Thread] {
				t.Errorf("thread %d runs several fibers", x.Thread)
			} else {
				running[x.Thread] = true
			}
			continue
		}
		c.waiting++
		if way := wayOf(x); way != n.way || x.Early != "" {
			t.Errorf("fiber %#x [%s] %s\n is %s\nnot %s", id, x.State, x.Early, way, n.way)
		}
		switch {
		case x.State == "sleeping" || x.State == "runnable":
		case n.waits == "join":
			if !slices.ContainsFunc(list, func(of language.Task) bool { return slices.Contains(of.AwaitedBy, id) }) {
				alone = append(alone, fmt.Sprintf("%#x", id))
			}
		case strings.Contains(n.way, " waits_forever:") && (len(x.Waits) != 1 || !held(x.Waits[0].Name, noted)):
			t.Errorf("fiber %#x waits for %+v", id, x.Waits)
		case len(x.Waits) != 1 || x.Waits[0].Kind != n.waits && n.waits != "":
			t.Errorf("fiber %#x [%s] waits for %+v, not %q", id, x.State, x.Waits, n.waits)
		}
	}
	const threads = 2 // of which each may have just taken a fiber from a queue
	if c.taken += len(missing); len(missing) > threads || len(alone) > threads {
		t.Errorf("fibers are missing: %q; %q wait for the end of others", missing, alone)
	}
}

// held reports whether text says that a main fiber holds a mutex.
func held(text string, noted map[uint64]note) bool {
	id := uint64(0)
	_, err := fmt.Sscanf(text, "held by fiber %v", &id)
	return err == nil && strings.HasPrefix(noted[id].way, "runs:")
}

// TestFibers: the fibers of a program wait where the program has noted that they wait, and for
// what, whenever it is stopped.
func TestFibers(t *testing.T) {
	const stops = 20
	for _, b := range []struct {
		name, compiler string
		flags          []string
	}{
		{"gcc/O0", "g++", []string{"-O0"}},
		{"gcc/O2", "g++", []string{"-O2"}},
		{"gcc/static", "g++", []string{"-O2", "-static"}},
		{"clang/O0", "clang++", []string{"-O0"}},
		{"clang/O2", "clang++", []string{"-O2"}},
	} {
		t.Run(b.name, func(t *testing.T) {
			path := build(t, b.compiler, b.flags...)
			for _, scheduler := range []string{"round", "shared", "stealing"} {
				t.Run(scheduler, func(t *testing.T) {
					symbols := symbol.New(symbol.Options{Entries: true})
					defer symbols.Close()
					p := start(t, path, scheduler, 90)
					var c count
					for range stops {
						for range rand.N(20) {
							p.States(t) // it runs meanwhile
						}
						p.Stop(t)
						compare(t, p, attached(t, p.PID, symbols), &c)
						p.Continue(t)
					}
					t.Logf("%+v", c)
				})
			}
		})
	}
}

// TestStripped: fibers are found without symbols and debug information, also where the library is
// in the program. Names are the ones that libraries export.
func TestStripped(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-static"}} {
		path := build(t, "g++", append(flags, "-s")...)
		symbols := symbol.New(symbol.Options{Entries: true})
		defer symbols.Close()
		p := start(t, path, "round", 90)
		p.Stop(t)
		list, noted := attached(t, p.PID, symbols), p.noted(t)
		found, locks := 0, 0
		for _, x := range list {
			if n, is := noted[x.ID]; is && x.Early == "" && (x.State == "running" || len(x.Frames) >= strings.Count(n.way, ":")) {
				found++
			}
			if len(x.Frames) > 0 && strings.HasPrefix(x.Frames[0].Function, "boost::fibers::mutex::lock") && len(x.Waits) == 1 && x.Waits[0].Kind == "mutex" {
				locks++
			}
		}
		if found < len(noted)-2 { // of which each thread may have just switched to one
			t.Errorf("%d of %d fibers", found, len(noted))
		}
		if locks == 0 && len(flags) == 1 {
			t.Error("no fiber waits for a mutex")
		}
	}
}

// TestCore: a core file has the same fibers. The debug information is in a file of its own.
func TestCore(t *testing.T) {
	gcore := gdbtest.Tool(t, "gcore")
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-static"}} {
		path := gdbtest.Separate(t, build(t, "g++", flags...))
		symbols := symbol.New(symbol.Options{Entries: true})
		defer symbols.Close()
		p := start(t, path, "shared", 90)
		p.Stop(t)
		var c count
		compare(t, p, attached(t, p.PID, symbols), &c)
		file := filepath.Join(t.TempDir(), "core")
		if out, err := exec.Command(gcore, "-o", file, strconv.Itoa(p.PID)).CombinedOutput(); err != nil {
			t.Fatalf("gcore: %v\n%s", err, out)
		}
		tg, err := core.Open(fmt.Sprintf("%s.%d", file, p.PID), core.Options{Exe: path})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		list, err := languagetest.Tasker(t, tg, tg.Mappings, symbols, fibers.Decorator{}).Tasks(tg.Memory())
		if err != nil {
			t.Error(err)
		}
		compare(t, p, list, &c)
		t.Logf("%+v", c)
	}
}
