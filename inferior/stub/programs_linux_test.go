package stub_test

import (
	"bufio"
	"context"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"regexp"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/i386"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/stub"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
	"github.com/sfwalk/sfwalk/target/remote"
)

var processors = []string{"amd64", "arm64", "s390x"}

var guests = map[string]*guesttest.Processor{"arm64": guesttest.ARM64, "s390x": guesttest.S390X}

// models are processors of amd64 that qemu emulates, with its stub in place of gdbserver's: the
// first has no AVX.
var models = []string{"Opteron_G1", "Haswell", "EPYC", "max"}

func init() {
	for _, m := range models {
		guests[m] = guesttest.AMD64
	}
}

// program is a program of testdata/progs for a processor.
type program struct {
	processor string
	path      string
	symbols   map[string]uint64
}

// build builds held.c.
func build(t *testing.T, processor string) *program {
	t.Helper()
	return buildProgram(t, processor, "held.c")
}

func buildProgram(t *testing.T, processor, source string) *program {
	t.Helper()
	p := &program{processor: processor, symbols: map[string]uint64{}}
	flags := []string{"-O1", "-g", "-pthread", "-static", "-no-pie", "-fno-pie"}
	if g := guests[processor]; g != nil && g != guesttest.AMD64 {
		gdbtest.File(t, "/usr/"+g.Triple+"/lib/libc.a")
		cc := gdbtest.Tool(t, g.Triple+"-gcc")
		p.path = gdbtest.Compile(t, gdbtest.Testdata(t, "progs", source), append([]string{cc}, flags...)...)
	} else if processor == "386" {
		p.path = gdbtest.Compile(t, gdbtest.Testdata(t, "progs", source), append([]string{gdbtest.Compiler386(t)}, flags...)...)
	} else {
		gdbtest.NeedAMD64(t)
		p.path = gdbtest.Build(t, source, flags...)
	}
	f, err := elf.Open(p.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		p.symbols[s.Name] = s.Value
	}
	return p
}

// serve starts the program under a stub, stopped at its first instruction, and returns where the
// stub listens.
func (p *program) serve(t *testing.T) (addr string) {
	t.Helper()
	if g := guests[p.processor]; g != nil {
		guest := &guesttest.Guest{Processor: g, Path: p.path}
		if g == guesttest.AMD64 {
			guest.CPU = p.processor
		}
		return "unix:" + guest.Serve(t)
	}
	if why := gdbtest.CannotWrite(t, "gdbserver"); why != "" {
		gdbtest.Cannot(t, why)
	}
	return gdbserver(t, "--once", "localhost:0", p.path)
}

// gdbserver starts a gdbserver, and returns where it listens.
func gdbserver(t *testing.T, args ...string) (addr string) {
	t.Helper()
	return gdbserverIn(t, gdbtest.Writing(t, "gdbserver"), args...)
}

// gdbserverIn starts one with more settings in its environment.
func gdbserverIn(t *testing.T, settings []string, args ...string) (addr string) {
	t.Helper()
	cmd := exec.Command(gdbtest.Tool(t, "gdbserver"), args...)
	cmd.Env = append(os.Environ(), settings...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if m := regexp.MustCompile(`Listening on port (\d+)`).FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, out)
			return "localhost:" + m[1]
		}
	}
	t.Fatalf("gdbserver: %s", said)
	return ""
}

func dial(t *testing.T, addr string, o remote.Options) *stub.Process {
	t.Helper()
	p, err := stub.Dial(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// resume resumes threads, and returns what happens.
func resume(t *testing.T, p *stub.Process, r inferior.Resume) inferior.Event {
	t.Helper()
	if err := p.Resume(r); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), gdbtest.Deadline(t))
	defer cancel()
	e, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func pc(t *testing.T, p *stub.Process, th inferior.Thread) uint64 {
	t.Helper()
	b, err := inferior.RegisterBytes(th, p.Arch().PC, p.Arch().PtrSize)
	if err != nil {
		t.Fatal(err)
	}
	return p.Arch().Word(b)
}

// to runs to a function, by a breakpoint that is gone then.
func (p *program) to(t *testing.T, held *stub.Process, function string) inferior.Thread {
	t.Helper()
	at := p.symbols[function]
	if at == 0 {
		t.Fatalf("no function %s", function)
	}
	if err := held.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	e := resume(t, held, inferior.Resume{})
	if e.Kind != inferior.Breakpoint || e.Thread == nil || pc(t, held, e.Thread) != at {
		t.Fatalf("event %+v, want the breakpoint at %s, %#x", e, function, at)
	}
	if err := held.ClearBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	return e.Thread
}
