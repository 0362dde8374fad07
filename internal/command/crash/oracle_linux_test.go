package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
)

// sourceAt is a function and a line; an inlined call has one of its own.
type sourceAt struct {
	function string // without parameters
	line     int
}

// stackFrame is a frame on the stack, with the calls that are inlined there.
type stackFrame struct {
	pc     uint64
	places []sourceAt // innermost first; of libraries, nil: gdb knows their names from symbol tables alone
	guess  bool       // the tool says that the frame may not be
}

// crashBuild is how a program is built that crashes.
type crashBuild struct {
	processor string
	flags     []string
	quick     bool // each test run has some of it
}

var crashBuilds = []crashBuild{
	{"amd64", []string{"-O0"}, false},
	{"amd64", []string{"-O1", "-fomit-frame-pointer"}, false},
	{"amd64", []string{"-O2", "-fomit-frame-pointer"}, true},
	{"amd64", []string{"-O2", "-fno-omit-frame-pointer"}, true},
	{"amd64", []string{"-O3", "-fomit-frame-pointer", "-static"}, true},
	{"i386", append([]string{"-O0"}, gdbtest.Dynamic386...), true},
	{"i386", []string{"-O1", "-fno-omit-frame-pointer", "-static"}, true},
	{"i386", append([]string{"-O2", "-fomit-frame-pointer"}, gdbtest.Dynamic386...), true},
	{"i386", []string{"-O3", "-fomit-frame-pointer", "-static"}, true},
	{"arm64", []string{"-O0"}, false},
	{"arm64", []string{"-O1", "-fomit-frame-pointer"}, true},
	{"arm64", []string{"-O2", "-fno-omit-frame-pointer"}, false},
	{"arm64", []string{"-O3", "-fomit-frame-pointer", "-static"}, true},
	{"arm", []string{"-O0"}, false},
	{"arm", []string{"-O1", "-fno-omit-frame-pointer", "-marm"}, false},
	{"arm", []string{"-O2", "-fomit-frame-pointer"}, true},
	{"arm", []string{"-O3", "-fomit-frame-pointer", "-static"}, true},
}

// crashCompilers are the C++ compilers for the processors whose programs run here.
var crashCompilers = map[string]string{"amd64": "c++", "i386": "i686-linux-gnu-g++"}

// guests are the processors that qemu emulates.
var guests = map[string]*guesttest.Processor{"arm64": guesttest.ARM64, "arm": guesttest.ARM}

// TestOracleMinidumps: programs crash at instructions that chance has chosen, and Breakpad's client
// writes minidumps of them. The frames are held against gdb's of the live process at that
// instruction: we have none that is wrong and no guess, and as many that are right as
// minidump_stackwalk at least. So it is with dump_syms' symbol files and with ours. (Of an
// instruction for which compilers have noted two lines, gdb shows the one at which a statement
// begins, and symbol files have the other one.)
func TestOracleMinidumps(t *testing.T) {
	testCrashes(t, false, 2, 1)
}

// TestOracleManyMinidumps is TestOracleMinidumps with 500 of them.
func TestOracleManyMinidumps(t *testing.T) {
	gdbtest.NeedSoak(t)
	testCrashes(t, true, 56, 2)
}

func testCrashes(t *testing.T, all bool, each int, seed uint64) {
	quick := 0
	for i, b := range crashBuilds {
		if !all && !b.quick {
			continue
		}
		quick++
		t.Run(b.processor+" "+strings.Join(b.flags[:min(2, len(b.flags))], " "), func(t *testing.T) {
			gdbtest.Share(t, quick)
			flags, chance := append([]string{"-g", "-gdwarf-4"}, b.flags...), rand.New(rand.NewPCG(seed, uint64(i)))
			var program string
			var points []gdbtest.CrashPoint
			if p := guests[b.processor]; p != nil {
				guest := p.BuildCrashing(t, flags...)
				program = guest.Path
				points = crashPoints(t, program, each+1, chance) // some are not reached
				guest.Crash(t, points)
			} else {
				program = gdbtest.BuildCrashing(t, crashCompilers[b.processor], flags...)
				points = crashPoints(t, program, each, chance)
				gdbtest.Crash(t, program, points)
			}
			compareCrashes(t, program, points, b.processor == "arm")
		})
	}
}

// crashPoints returns as many points as chance says: in functions, and what they call, each of a
// few hundred instructions.
func crashPoints(t *testing.T, program string, n int, r *rand.Rand) (points []gdbtest.CrashPoint) {
	functions, dir := gdbtest.Functions(t, program, "work_"), t.TempDir()
	for i := range n {
		steps := r.IntN(1 << r.IntN(12))
		points = append(points, gdbtest.CrashPoint{
			Function: functions[r.IntN(len(functions))], Calls: r.IntN(30), Steps: steps,
			Argument: filepath.Join(dir, fmt.Sprintf("crash%d.dmp", i)),
		})
	}
	return points
}

// compareCrashes reads the dumps of a program with both tools and with both kinds of symbol files.
// Where symbol files lack libraries' tables, and both tools guess, ours need not be better each
// time, but of many together.
func compareCrashes(t *testing.T, program string, points []gdbtest.CrashPoint, guessing bool) {
	none, stores, dumped := t.TempDir(), [2]string{t.TempDir(), t.TempDir()}, map[string]bool{}
	var dumps, frames int
	var rights [2][2]score // by the symbol files' origin; minidump_stackwalk, and ours
	for _, p := range points {
		if p.Frames == nil {
			continue
		}
		// ld.so of arm64 has tables that are wrong where a PLT calls it, and gdb goes astray by
		// them.
		if !slices.ContainsFunc(p.Frames, func(f gdbtest.Frame) bool { return f.Function == "main" }) {
			t.Logf("%s at %d+%d of %s is left out: gdb does not come to main", filepath.Base(p.Argument), p.Calls, p.Steps, p.Function)
			continue
		}
		dump, err := minidump.Open(p.Argument)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		for _, m := range dump.Modules {
			if strings.HasPrefix(m.Name, "/") && !dumped[m.Name] {
				dumped[m.Name] = true
				symbolsOf(t, stores, m.Name, none)
			}
		}
		dump.Close()
		want := truth(program, p.Frames)
		dumps, frames = dumps+1, frames+len(want)
		for i, store := range stores {
			which := fmt.Sprintf("%s at %d+%d of %s, symbols by %s", filepath.Base(p.Argument), p.Calls, p.Steps, p.Function, []string{"dump_syms", "us"}[i])
			peer := compareFrames(want, peerFrames(t, p.Argument, store))
			text, ours := ourFrames(t, p.Argument, store, none)
			own := compareFrames(want, ours)
			rights[i][0].add(peer)
			rights[i][1].add(own)
			if own.wrong > 0 {
				t.Errorf("%s: %d frames are wrong, and no guesses:\n%s\ngdb has\n%+v", which, own.wrong, text, want)
			}
			if !guessing && (own.right < peer.right || own.named < peer.named) {
				t.Errorf("%s: %+v, minidump_stackwalk has %+v:\n%s\ngdb has\n%+v", which, own, peer, text, want)
			}
		}
	}
	if frames == 0 {
		t.Fatal("nothing has crashed")
	}
	for i, by := range []string{"dump_syms", "sfwalk"} {
		t.Logf("%d dumps, %d frames; symbols by %s: minidump_stackwalk %v; sfwalk %v", dumps, frames, by, rights[i][0], rights[i][1])
		if peer, own := rights[i][0], rights[i][1]; dumps >= 20 && (own.right < peer.right || own.named < peer.named) {
			t.Errorf("symbols by %s: %v, minidump_stackwalk has %v", by, own, peer)
		}
	}
}

// score counts frames.
type score struct {
	right int // where gdb has them, by their PCs
	named int // of them, those with gdb's functions and lines
	wrong int // frames that gdb has not there, without a guess
	guess int // wrong ones that are said to be guesses
}

func (s *score) add(x score) {
	s.right += x.right
	s.named += x.named
	s.wrong += x.wrong
	s.guess += x.guess
}

func (s score) String() string {
	return fmt.Sprintf("%d right (%d of them with names and lines), %d wrong, %d wrong guesses", s.right, s.named, s.wrong, s.guess)
}

func compareFrames(want, got []stackFrame) (s score) {
	for i, f := range got {
		switch {
		case i < len(want) && f.pc == want[i].pc:
			s.right++
			if want[i].places == nil || slices.Equal(want[i].places, f.places) {
				s.named++
			}
		case f.guess:
			s.guess++
		default:
			s.wrong++
		}
	}
	return s
}

// symbolsOf writes a file's symbols to two stores: by dump_syms, and by us.
func symbolsOf(t *testing.T, stores [2]string, file, none string) {
	if _, _, err := commandtest.Run("symbols", "dump", file, none, "--store", stores[1]); err != nil {
		t.Errorf("%s: %v", file, err)
	}
	commandtest.DumpSymsWith(t, stores[0], []string{"-d"}, file)
}

// truth returns gdb's frames.
func truth(program string, frames []gdbtest.Frame) (list []stackFrame) {
	var places []sourceAt
	for i := range frames {
		f := &frames[i]
		if f.Type == "tailcall" {
			places = nil // those inlined in it, which is not on the stack
			continue
		}
		places = append(places, sourceAt{plainName(f.Function), f.Line})
		if !f.Physical() {
			continue
		}
		if f.Module != "" || f.File == "" {
			places = nil
		}
		list = append(list, stackFrame{pc: f.PC, places: places})
		places = nil
	}
	return list
}

// plainName returns a function's name without its parameters.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return name
}

var (
	peerLine = regexp.MustCompile(`^ *\d+  (.*)$`)
	peerAt   = regexp.MustCompile(`^[^!]*!(.*?)(?: \[.* : (\d+) \+ 0x[0-9a-f]+\]| \+ 0x[0-9a-f]+)?$`)
	peerIP   = regexp.MustCompile(`\b(?:[re]ip|pc) = 0x([0-9a-f]+)`)
)

// peerFrames returns the frames of the thread that crashed as minidump_stackwalk has them.
func peerFrames(t *testing.T, dump, store string) (list []stackFrame) {
	t.Helper()
	out, err := exec.Command(gdbtest.Breakpad(t, "minidump_stackwalk"), dump, store).Output()
	if err != nil {
		t.Fatalf("minidump_stackwalk: %v\n%s", err, out)
	}
	return peerFramesOf(out)
}

// peerFramesOf returns the frames of the thread that crashed in what minidump_stackwalk has
// printed.
func peerFramesOf(out []byte) (list []stackFrame) {
	_, text, _ := strings.Cut(string(out), "(crashed)\n")
	text, _, _ = strings.Cut(text, "\n\n")
	var places []sourceAt
	pc := uint64(0)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := peerLine.FindStringSubmatch(line); m != nil {
			at := sourceAt{}
			if n := peerAt.FindStringSubmatch(m[1]); n != nil {
				at.function = plainName(n[1])
				at.line, _ = strconv.Atoi(n[2])
			}
			places, pc = append(places, at), 0
		} else if m := peerIP.FindStringSubmatch(line); m != nil {
			pc, _ = strconv.ParseUint(m[1], 16, 64)
			if strings.HasSuffix(m[0], "pc = 0x"+m[1]) && len(m[1]) == 8 {
				pc &^= 1 // of 32-bit arm: the bit of Thumb
			}
		} else if how, ok := strings.CutPrefix(line, "    Found by: "); ok && !strings.Contains(how, "inlin") {
			list = append(list, stackFrame{pc, places, strings.Contains(how, "scanning")})
			places = nil
		}
	}
	return list
}

// ourFrames returns the frames of the thread that crashed as we have them, and the text that is
// printed. The modules' own files are not at hand.
func ourFrames(t *testing.T, dump, store, none string) (text string, list []stackFrame) {
	t.Helper()
	args := []string{"minidump", dump, "--symbols", store, "--sysroot", none, "--json", "--explain"}
	out, errOut, _ := commandtest.Run(args...)
	var doc struct {
		Threads []struct {
			Frames []struct {
				Type, PC, Function, Sniffer string
				Line                        int
				Guess                       bool
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%s: %v\n%s", dump, err, errOut)
	}
	var places []sourceAt
	guess := false
	for _, f := range doc.Threads[0].Frames {
		pc, err := strconv.ParseUint(f.PC, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s %s %s:%d by %s, guess: %v\n", f.Type, f.PC, f.Function, f.Line, f.Sniffer, f.Guess)
		if places = append(places, sourceAt{plainName(f.Function), f.Line}); f.Type != "inline" {
			list = append(list, stackFrame{pc, places, guess})
			places, guess = nil, guess || f.Guess
		}
	}
	return text, list
}
