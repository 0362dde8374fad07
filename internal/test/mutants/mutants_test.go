//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// acts has the test's own program stand in for a command that breaks a promise.
const acts = "SFWALK_MUTANTS_ACT"

func TestMain(m *testing.M) {
	switch os.Getenv(acts) {
	case "":
		os.Exit(m.Run())
	case "good":
		fmt.Println("fine\t\u00e9")
		os.Exit(3)
	case "panics":
		panic("no")
	case "memory":
		b := bytes.Repeat([]byte{1}, 300<<20)
		runtime.KeepAlive(b)
	case "code":
		os.Exit(4)
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "much":
		line := bytes.Repeat([]byte{'x'}, 1<<20)
		for range 100 {
			os.Stdout.Write(line)
		}
	case "escape":
		fmt.Print("a\x1b[m")
	case "c1":
		fmt.Print("a\u009b")
	case "direction":
		fmt.Fprint(os.Stderr, "a\u202e")
	case "bytes":
		fmt.Print("a\xff")
	}
}

// Each kind of broken promise is found.
func TestBroken(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for act, want := range map[string]string{
		"good": "", "panics": "panics", "memory": "MB of memory", "code": "exit code is 4", "killed": "killed", "much": "100 MB of output",
		"escape": "standard output has the character U+001B", "c1": "standard output has the character U+009B",
		"direction": "standard error has the character U+202E", "bytes": "standard output has the byte 0xff",
	} {
		x := run([]string{self}, append(os.Environ(), acts+"="+act), t.TempDir())
		if !strings.Contains(x.broken, want) || want == "" && x.broken != "" {
			t.Errorf("%s: %+v", act, x)
		}
	}
	x := outcome{cpu: 11 * time.Second}
	if x.judge(0, "", ""); x.broken != "11s of CPU time" {
		t.Errorf("%+v", x)
	}
}

// Mutants differ from their seeds, have a bound on their size, and are the same each time. The
// shapes that they are made by know where the parts of the seeds are.
func TestMutate(t *testing.T) {
	s := &seeds{root: "../..", dir: t.TempDir()}
	for _, k := range kinds(s) {
		if sh := k.shape(k.seeds[0]); len(sh.fields)+len(sh.records) < 4 {
			t.Errorf("%s: the shape has %d numbers and %d records", k.name, len(sh.fields), len(sh.records))
		}
		same, holes := 0, 0
		for number := range uint64(100) {
			x, again := mutantOf(&k, number), mutantOf(&k, number)
			if !bytes.Equal(x.data, again.data) || x.size != again.size {
				t.Errorf("%s/%d: another one each time", k.name, number)
			}
			if len(x.data) > mostSize {
				t.Errorf("%s/%d has %d bytes", k.name, number, len(x.data))
			}
			for _, seed := range k.seeds {
				if bytes.Equal(x.data, seed) && x.size <= int64(len(x.data)) {
					same++
				}
			}
			if x.size > int64(len(x.data)) {
				holes++
			}
		}
		if same > 20 || holes == 0 {
			t.Errorf("%s: %d of 100 mutants are seeds, %d have holes", k.name, same, holes)
		}
	}
}

func mutantOf(k *kind, number uint64) mutant {
	m := &mutator{Rand: rand.New(rand.NewPCG(1, number)), shape: k.shape, others: k.seeds, most: mostSize}
	return m.mutate(one(m, k.seeds))
}

// The built command keeps its promises on a few mutants of each format.
func TestCommand(t *testing.T) {
	gdbtest.Tool(t, "g++")
	command := filepath.Join(t.TempDir(), "sfwalk")
	build := exec.Command("go", "build", "-o", command, "../../../cmd/sfwalk")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d := driver{sfwalk: command, keep: filepath.Join(t.TempDir(), "found"), seed: 1}
	if err := d.begin(""); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(d.dir)
	formats := map[string]bool{}
	for _, k := range d.list {
		formats[k.format] = true
	}
	if len(formats) != 12 {
		t.Errorf("%d formats: %v", len(formats), formats)
	}
	d.all(240, 0, runtime.NumCPU())
	for name, r := range d.results {
		if r.broken > 0 {
			t.Errorf("%s: %d have broken a promise", name, r.broken)
		}
	}
}

func FuzzShapes(f *testing.F) {
	s := &seeds{root: "../.."}
	shapes := []shapeOf{elfShape, minidumpShape, perfShape, jitdumpShape, peShape, lines}
	for i, pattern := range []string{"testdata/bin/plt-v3", "target/core/testdata/arm-qemu.core", "record/testdata/perf/deferred/perf.data", "cmd/sniffer-perfmap/testdata/jit-node18.dump", "internal/test/mutants/testdata/frames.dll", "format/breakpad/testdata/inlines.sym"} {
		for _, data := range s.files(pattern) {
			f.Add(data[:min(len(data), 4096)], byte(i), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte, number uint64) {
		if len(data) > 1<<13 {
			return
		}
		bounds.Hold(t, 64<<20, func() {
			m := &mutator{Rand: rand.New(rand.NewPCG(0, number)), shape: shapes[int(which)%len(shapes)], most: 1 << 14}
			if x := m.mutate(data); len(x.data) > 1<<14 {
				t.Errorf("%d bytes", len(x.data))
			}
		})
	})
}
