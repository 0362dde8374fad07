package luajit_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/luajit"
)

// functions returns for each line of a program the number of the function that it is in, as the
// function announces it.
func functions(t *testing.T, path string) []int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	of := make([]int, len(lines)+1)
	announces := regexp.MustCompile(`s\.ids\[d\] = (\d+)`)
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	for i, line := range lines {
		m := announces.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		id, _ := strconv.Atoi(m[1])
		if id != i { // lines are counted from 1 on
			t.Fatalf("line %d announces %d", i+1, id)
		}
		nested := indent(lines[i]) > 4
		for j := i - 1; j < len(lines); j++ {
			ends := j >= i && indent(lines[j]) == indent(lines[i-1]) && strings.HasPrefix(strings.TrimSpace(lines[j]), "end")
			if nested && (j < i || ends) { // the lines where a function within another one begins and ends are of both
				if ends {
					break
				}
				continue
			}
			of[j+1] = id
			if ends {
				break
			}
		}
	}
	return of
}

// TestTraces stops a program that its compiler has made traces of. Its frames are the functions
// that it announces in memory: all that were called before the trace, and the trace's own up to the
// last place that the trace has noted.
func TestTraces(t *testing.T) {
	path := absolute(t, "testdata/traced.lua")
	of := functions(t, path)
	p := languagetest.StartTold(t, gdbtest.Tool(t, "luajit"), path)
	line := p.Next(t)
	at, err := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
	if err != nil {
		t.Fatalf("%q", line)
	}
	traced, exact, behind, ahead, seen, far, moments := 0, 0, 0, 0, 0, 0, 0
	for range stops() {
		for range rand.N(100) {
			p.States(t) // it runs meanwhile
		}
		p.Stop(t)
		d := languagetest.Attach(t, p.PID, luajit.Decorator{}, nil)[p.PID]
		want := announced(t, p.PID, at)
		p.Continue(t)
		var got []int
		inTrace, fixed := false, 0 // functions outward of the one where the trace has begun
		for _, f := range d.Frames() {
			if f.File != path || f.Function == "main chunk" {
				continue
			}
			got = append(got, of[f.Line])
			if strings.Contains(f.Kind, "trace") {
				inTrace, fixed = true, 0
			} else {
				fixed++
			}
		}
		slices.Reverse(got)
		same := 0
		for same < len(got) && same < len(want) && got[same] == want[same] {
			same++
		}
		seen += len(got)
		switch {
		case len(d.Warnings()) == 1 && isMoment(d.Warnings()[0]):
			moments++
		case len(d.Warnings()) > 0, same < max(len(got), len(want))-1 && (!inTrace || same < fixed):
			t.Fatalf("%d announced: %v, sfwalk %d: %v, %q\n%s", len(want), want[max(len(want)-9, 0):], len(got), got[max(len(got)-9, 0):], d.Warnings(), dump(d))
		case same == len(got) && same == len(want):
			exact++
		case same < max(len(got), len(want))-1:
			far++
		case same == len(got):
			behind++
		default:
			ahead++
		}
		if inTrace {
			traced++
		}
	}
	t.Logf("%d stops, %d in a trace, %d frames; %d exact, %d with one less, %d with one more or another, %d with more or others in the trace, %d where the stack is being made larger, or a trace left", stops(), traced, seen, exact, behind, ahead, far, moments)
	// How many stops are exact depends on how fast the machine announces: most are one off.
	if moments > 1+stops()/50 || far > 1+stops()/20 || traced == 0 || exact < stops()/10 {
		t.Error("there are too few in a trace, or exact")
	}
}

// isMoment reports whether a warning is of a moment in which the state of Lua does not tell all.
func isMoment(warning string) bool {
	return strings.Contains(warning, "made larger") || strings.Contains(warning, "just being left") || strings.Contains(warning, "just entering or leaving")
}

// announced returns the functions that run as the program has announced them, the outermost first.
func announced(t *testing.T, pid int, at uint64) []int {
	t.Helper()
	m, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	word := func(at uint64) int {
		var b [4]byte
		if _, err := m.ReadAt(b[:], int64(at)); err != nil {
			t.Fatal(err)
		}
		return int(int32(binary.LittleEndian.Uint32(b[:])))
	}
	list := make([]int, word(at))
	for i := range list {
		list[i] = word(at + 4 + 4*uint64(i))
	}
	return list
}
