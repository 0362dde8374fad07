package record

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// peakFormat says to a child of TestPeak what to write.
const peakFormat = "SFWALK_PEAK_FORMAT"

// A recording that is full of whatever it may have, and what it is written as, take no more than
// 200 MiB: all of the program, in each format. The places are all over this test's own code, with
// lines and inlined calls.
func TestPeak(t *testing.T) {
	if format := os.Getenv(peakFormat); format != "" {
		writeFull(t, format)
		return
	}
	gdbtest.NeedSoak(t)
	for _, format := range picture.Formats {
		t.Run(format.Name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestPeak$", "-test.v")
			cmd.Env = append(os.Environ(), peakFormat+"="+format.Name)
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, said)
			}
			t.Logf("%s", said)
		})
	}
}

func writeFull(t *testing.T, format string) {
	debug.SetMemoryLimit(190 << 20) // as the command does
	a := arch.ByName(runtime.GOARCH)
	e := newEngine(newMachine(), &perfevent.Format{}, Options{Arch: a, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	s := e.newSpace(int32(os.Getpid()), a, nil)
	s.refresh()
	var lo, hi uint64
	for _, m := range s.maps {
		if m.Exec && m.Path == os.Args[0] {
			lo, hi = m.Lo, m.Hi
		}
	}
	if hi == 0 {
		t.Fatalf("%s is not mapped: %v", os.Args[0], s.maps)
	}
	var places []uint32
	for len(e.tree.places) < maxBounds.places {
		places = append(places, s.placeOf(lo+uint64(len(places))*((hi-lo)/uint64(maxBounds.places))))
	}
	for i := range 2000 {
		e.list = append(e.list, Thread{PID: 1, TID: i + 1, Name: fmt.Sprint("thread ", i), Process: "process"})
	}
	r := rand.New(rand.NewPCG(1, 2))
	// First stacks that fill the keys' frames, of several threads each, then such that differ in
	// every frame.
	const depth = 64
	stack := make([]uint32, depth)
	for n := 0; len(e.tree.nodes) < maxBounds.nodes; n++ {
		for at := range stack {
			if at < depth/4 || n%8 == 0 {
				stack[at] = places[r.IntN(len(places))]
			}
		}
		for range 4 {
			e.tree.add(sampleKey{thread: uint32(r.IntN(len(e.list)))}, stack[:depth/2], 1000)
			e.tree.add(sampleKey{thread: uint32(r.IntN(len(e.list)))}, stack, 1000)
		}
	}
	for n := range maxBounds.keys {
		e.tree.add(sampleKey{thread: uint32(n % len(e.list)), state: stateRunning}, stack[:1+n%depth], 1000)
	}
	t.Logf("%d places, %d nodes, %d keys, %d frames: %s", len(e.tree.places), len(e.tree.nodes), len(e.tree.keys), e.tree.frames, peak(t))
	names := symbol.New(symbol.Options{})
	defer names.Close()
	p := &Profile{Frequency: 999, Threads: e.list, stacks: e.tree.now()}
	pictured := p.Picture(names)
	t.Logf("as a picture: %s", peak(t))
	if err := pictured.Write(io.Discard, format); err != nil {
		t.Fatal(err)
	}
	most := peak(t)
	t.Logf("as %s: %s", format, most)
	if kb, err := strconv.Atoi(strings.Fields(most)[0]); err != nil || kb > 200<<10 {
		t.Errorf("%s takes %s, want no more than 200 MiB (%v)", format, most, err)
	}
	runtime.KeepAlive(e)
}

// peak returns the most memory that this process had so far.
func peak(t *testing.T) string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, value, _ := strings.Cut(string(status), "VmHWM:")
	value, _, _ = strings.Cut(value, "\n")
	return strings.TrimSpace(value)
}
