package stacks_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// loaded is a program with debug information that others wrote, or that is built of much of its
// language's library, at work.
type loaded struct {
	program
	raw bool // gdb's printers of its language have other texts by design
}

var loadedPrograms = []loaded{
	{program: program{name: "python3", apt: "python3 python3-dbg", run: "/usr/bin/python3 $SRC/objects.py"}},
	{program: program{name: "redis", apt: "dpkg-dev", build: "sh -e $SRC/source.sh redis && cd redis && make -C src MALLOC=libc OPTIMIZATION=-O2 redis-server redis-benchmark",
		run: "sh -e $SRC/redis.sh"}},
	{program: program{name: "sqlite3", apt: "dpkg-dev tcl", build: "sh -e $SRC/source.sh sqlite3 && cd sqlite3 && ./configure --disable-readline --disable-tcl CFLAGS='-g -O2' && make sqlite3",
		run: "sh -e $SRC/sqlite3.sh"}},
	{program: program{name: "Rust", build: "rustc --edition=2021 -g -o load $SRC/load.rs", run: "./load"}},
	{program: program{name: "Rust, optimized", build: "rustc --edition=2021 -g -O -o load $SRC/load.rs", run: "./load"}},
	{program: program{name: "Go", build: "cp $SRC/goload/main.go . && go mod init goload && CGO_ENABLED=0 go build", run: "./goload"}, raw: true},
}

// comparedFrames is how many frames of each program are compared, for raw values and for those by
// printers.
const comparedFrames = 1000

// TestProgramsLocalsAsGDB stops real programs at random moments and compares their arguments and
// locals with gdb's. The test takes some ten minutes and installs the packages that it needs: make
// soak.
func TestProgramsLocalsAsGDB(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	src, err := filepath.Abs("testdata/programs")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SRC", src)
	t.Setenv("LC_ALL", "C.UTF-8")
	for i := range loadedPrograms {
		t.Run(loadedPrograms[i].name, loadedPrograms[i].test)
	}
}

func (p *loaded) test(t *testing.T) {
	p.install(t)
	t.Chdir(t.TempDir())
	if p.build != "" {
		if out, err := exec.Command("sh", "-ec", p.build).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.build, err, out)
		}
	}
	sh := p.start(t)
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", sh.PID))
	if err != nil {
		t.Fatal(err)
	}
	modes := []struct {
		name    string
		flags   []string
		options []gdbtest.FullOption
	}{
		{"raw", []string{"--raw"}, nil},
		{"with printers", nil, p.printers(t)},
	}
	if p.raw {
		modes = modes[:1]
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, mode := range modes {
		counts := valuetest.Tally{Constants: valuetest.ByteConstants(t, program), Known: betterProgram}
		moments, slow := 0, 0
		for ; counts.Frames < comparedFrames && moments < comparedFrames && slow < maxSlow; moments++ {
			awaitCPU(t, sh.PID, time.Duration(r.IntN(100_000_000)))
			sh.Stop(t)
			t.Run(fmt.Sprintf("%s %d", mode.name, moments), func(t *testing.T) { // gdb itself may fail at one of them
				began := time.Now()
				defer func() {
					if t.Skipped() && time.Since(began) > gdbtest.FullLimit {
						slow++
					}
				}()
				p.moment(t, sh.PID, mode.flags, mode.options, moments%5 == 0, &counts)
			})
			sh.Continue(t)
		}
		t.Logf("%s, %d moments, at %d of which gdb took too long:", mode.name, moments, slow)
		counts.Log(t)
	}
}

// maxSlow is at how many moments of a program gdb may take longer than [gdbtest.FullLimit], before
// the program is given up.
const maxSlow = 3

// moment compares what gdb, `sfwalk attach` and, if core is set, `sfwalk core` say of a stopped
// process. gdb comes last, because it may let the process run.
func (p *loaded) moment(t *testing.T, pid int, flags []string, options []gdbtest.FullOption, core bool, counts *valuetest.Tally) {
	t.Helper()
	text, lost := locals(t, flags, "attach", strconv.Itoa(pid))
	path := ""
	if core {
		path = filepath.Join(t.TempDir(), "core")
		defer os.Remove(path)
	}
	want := valuetest.Parse(t, gdbtest.Full(t, pid, path, options...))
	counts.Add(t, gdbtest.CompareFull(want, valuetest.Parse(t, text)), lost)
	if core {
		text, lost = locals(t, flags, "core", path)
		counts.Add(t, gdbtest.CompareFull(want, valuetest.Parse(t, text)), lost)
	}
}

// printers has gdb load the printers of libstdc++ or Rust, and not an interpreter's printers for
// its objects.
func (p *loaded) printers(t *testing.T) []gdbtest.FullOption {
	t.Helper()
	if strings.Contains(p.build, "rustc") {
		return []gdbtest.FullOption{gdbtest.WithScripts(valuetest.RustPrinters(t, gdbtest.Tool(t, "rustc")))}
	}
	return []gdbtest.FullOption{gdbtest.WithScripts(), gdbtest.WithSettings("set auto-load safe-path /usr/share/gdb/auto-load/usr/lib")}
}

// betterProgram says why a value of one of these programs that gdb has in another way is no defect,
// or returns "".
func betterProgram(d gdbtest.FullDifference) string {
	unreadable := strings.Contains(d.Want, "Cannot access memory at address 0x")
	switch {
	case d.Function == "runtime.newproc" && (d.Instead != "" || d.Got == "(not there)"):
		return "gdb does not follow Go to the stack that it has left"
	case coldPart.ReplaceAllString(d.Want, "<$1>") == coldSymbol.ReplaceAllString(d.Got, "<$1>"):
		return "gdb counts back from a function to its cold part, which has a symbol"
	case goParameter.ReplaceAllString(d.Got, "$1$2 *)") == d.Want && d.Got != d.Want:
		return "gdb writes a pointer to a type of Go behind the type's name, and we write the name that the pointer has"
	case strings.ReplaceAll(d.Got, "<importlib__", "<importlib.") == d.Want:
		return "gdb takes a name with two underscores for one of Ada"
	case d.Want == "<optimized out>" && d.Function == "_PyEval_Vector" && d.Name == "locals":
		// gdb has the same object two frames further out, in run_eval_code_obj, which passes it.
		return "gdb does not find the function that the caller calls: by its abstract entry, or by its declaration in C++"
	case d.Function == "vdbeCommit" && d.Name == "p":
		// At callFinaliser's call, p is what sqlite3VdbeHalt was entered with, and the call site
		// there has that as DW_OP_fbreg -296, DW_OP_deref. gdb itself has our value in the next
		// frame, which passes its p, and while p is in r14, some instructions before.
		return "gdb takes the frame base of another frame than the caller's, for an argument of an inlined call"
	case unreadable && d.Got == "<optimized out>":
		return "gdb has an error for an enumeration of Rust that is optimized out"
	case unreadable && d.Got == "...":
		return "gdb reads what an argument has lost, to print nothing of it"
	case strings.HasSuffix(d.Want, ` ""`) && strings.Contains(d.Got, "len = <optimized out>"):
		return "gdb takes a length that is optimized out for zero"
	}
	return valuetest.BetterRust(d)
}

// goParameter matches a function's only parameter, a pointer of Go.
var goParameter = regexp.MustCompile(`(\{void \()\*([\w./]+)\)`)

// coldPart and coldSymbol match a symbol of a function's part that is elsewhere as gdb and as we
// write it.
var (
	coldPart   = regexp.MustCompile(`<(\w+)-\d+>`)
	coldSymbol = regexp.MustCompile(`<(\w+)\.cold\+\d+>`)
)

// awaitCPU waits until a process has run for a further amount of CPU time.
func awaitCPU(t *testing.T, pid int, more time.Duration) {
	t.Helper()
	clock := int32(^pid<<3 | 2) // of the process's CPU time, see clock_getcpuclockid(3)
	took := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(clock, &ts); err != nil {
			t.Fatalf("the program has ended: %v", err)
		}
		return time.Duration(ts.Nano())
	}
	before := took()
	gdbtest.Await(t, fmt.Sprintf("process %d runs for %v", pid, more), func() bool { return took() >= before+more })
}
