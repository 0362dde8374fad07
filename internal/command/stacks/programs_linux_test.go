package stacks_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/live"
)

// program is one of Debian's programs, or one that Debian's compilers build. It never rests.
type program struct {
	name    string
	apt     string // packages
	build   string // shell command, run in a fresh folder; $SRC is testdata/programs
	run     string // shell command that becomes the program
	running int    // how many stacks are taken while it runs
	stopped int    // how many are taken while it is stopped
	gdb     bool   // compare with gdb's stacks, too, which takes long

	consistent bool // live.Options.Consistent
}

var programs = []program{
	{name: "emacs", apt: "emacs-nox", running: 500, stopped: 50, gdb: true,
		run: `emacs --batch --eval '(progn (setq max-lisp-eval-depth 10000)(defun f(n)(if(= n 0)1(+ 1(f(- n 1)))))(while t(f 300)(mapcar (lambda(x)(f x))(list 1 2 3))))'`},
	{name: "python3", apt: "python3", run: "/usr/bin/python3 $SRC/recurse.py", running: 500, stopped: 50, gdb: true},
	{name: "frames of 3 KB", build: "gcc -O1 -o frames $SRC/frames.c", run: "./frames", running: 500, stopped: 10, gdb: true},
	{name: "Go and C", build: "cp $SRC/gocgo/main.go . && go mod init gocgo && CGO_ENABLED=1 go build", run: "./gocgo", running: 200},
	{name: "Go and C, consistent", build: "cp $SRC/gocgo/main.go . && go mod init gocgo && CGO_ENABLED=1 go build", run: "./gocgo", running: 200, consistent: true},
	{name: "java", apt: "default-jdk-headless", build: "javac -d . $SRC/Spin.java", run: "java -cp . Spin", running: 50, stopped: 50},
	{name: "java, interpreted", apt: "default-jdk-headless", build: "javac -d . $SRC/Spin.java", run: "java -Xint -cp . Spin", running: 50, stopped: 50},
	{name: "ffmpeg", apt: "ffmpeg", run: "ffmpeg -f lavfi -i testsrc=size=640x480:rate=30 -c:v libx264 -f null -", running: 100, stopped: 100, gdb: true},
	{name: "qemu", apt: "qemu-system-x86", build: "sh $SRC/disk.sh", run: "qemu-system-x86_64 -display none -drive format=raw,file=disk", running: 100, stopped: 50, gdb: true},
	{name: "musl", apt: "musl-tools", build: "musl-gcc -O2 -o musl $SRC/musl.c", run: "./musl", running: 100, stopped: 50},
	{name: "musl, static", apt: "musl-tools", build: "musl-gcc -O2 -static -o musl $SRC/musl.c", run: "./musl", running: 100, stopped: 50},
	{name: "fibers of boost", apt: "libboost-fiber-dev", build: "g++ -O2 -o fibers $SRC/fibers.cc -lboost_fiber -lboost_context", run: "./fibers", running: 100, stopped: 50},
	{name: "fibers of ruby", apt: "ruby", run: "ruby $SRC/fibers.rb", running: 100, stopped: 50},
	{name: "guile", apt: "guile-3.0", running: 100, stopped: 50,
		run: `guile -c '(let f () (let loop ((n 0) (l (list))) (if (< n 1000) (loop (+ n 1) (cons n l)))) (f))'`},
	{name: "ghc", apt: "ghc", build: "ghc -O -o spin -outputdir . $SRC/spin.hs", run: "./spin", running: 100, stopped: 50},
	{name: "mono", apt: "mono-mcs", build: "mcs -out:spin.exe $SRC/Spin.cs", run: "mono spin.exe", running: 100, stopped: 50},
	{name: "postgres", apt: "postgresql", build: "sh -e $SRC/postgres.sh",
		run: "setpriv --reuid postgres --regid postgres --clear-groups $(ls -d /usr/lib/postgresql/*/bin | tail -1)/postgres --single -D data postgres <$SRC/postgres.sql", running: 100, stopped: 50},
	{name: "postgres, code registered", apt: "postgresql", build: "sh -e $SRC/postgres.sh",
		run: "setpriv --reuid postgres --regid postgres --clear-groups $(ls -d /usr/lib/postgresql/*/bin | tail -1)/postgres --single -c jit_debugging_support=on -D data postgres <$SRC/postgres.sql", running: 100, stopped: 50, gdb: true},
	{name: "llvm", apt: "clang llvm", build: "clang -g -O1 -fomit-frame-pointer -emit-llvm -c $SRC/../../../../../target/jit/testdata/made.c -o made.bc",
		run: "lli -jit-kind=mcjit made.bc", running: 100, stopped: 50, gdb: true},
}

// TestPrograms takes stacks of programs that others wrote. In a running program, no stack may end
// early or be of two moments. In a stopped one, no stack may end early where gdb or eu-stack has
// come to an address at which the program's stacks end. The test takes minutes and installs the
// packages that it needs: make soak.
func TestPrograms(t *testing.T) {
	gdbtest.NeedSoak(t)
	src, err := filepath.Abs("testdata/programs")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SRC", src)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) { p.test(t) })
	}
}

func (p *program) test(t *testing.T) {
	p.install(t)
	t.Chdir(t.TempDir())
	if p.build != "" {
		if out, err := exec.Command("sh", "-ec", p.build).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.build, err, out)
		}
	}
	sh := p.start(t)

	ends := make(map[address.Hex]bool) // where whole stacks end
	cut, mixed := 0, 0
	for range p.running {
		doc := p.take(t, sh.PID)
		for i := range doc.Threads {
			th := &doc.Threads[i]
			moved := slices.ContainsFunc(th.Frames, func(f report.Frame) bool { return f.MovedOn })
			switch {
			case moved:
				if mixed++; mixed <= 3 {
					t.Errorf("of two moments:%s", listed(th))
				}
			case !th.Whole:
				if cut++; cut <= 3 {
					t.Errorf("cut: %s %s%s", th.Stop, th.Error, listed(th))
				}
			default:
				ends[th.Frames[len(th.Frames)-1].PC] = true
			}
		}
	}
	t.Logf("%d attaches while it runs: %d stacks cut, %d of two moments", p.running, cut, mixed)

	short, peers := 0, 0
	for i := range p.stopped {
		sh.Stop(t)
		theirs := euStack(t, sh.PID)
		if p.gdb && i%10 == 0 {
			for _, th := range gdbtest.Backtrace(t, sh.PID) {
				theirs[th.TID] = append(theirs[th.TID], address.At(th.Frames[len(th.Frames)-1].PC))
			}
		}
		doc := p.take(t, sh.PID)
		for i := range doc.Threads {
			th := &doc.Threads[i]
			if !slices.ContainsFunc(theirs[th.TID], func(pc address.Hex) bool { return ends[pc] }) {
				continue
			}
			if peers++; !th.Whole {
				if short++; short <= 3 {
					t.Errorf("others have all of it: %s %s%s", th.Stop, th.Error, listed(th))
				}
			}
		}
		sh.Continue(t)
	}
	t.Logf("stopped %d times: others came to the end of %d stacks, of which %d are cut here", p.stopped, peers, short)
	if p.stopped > 0 && peers == 0 && p.gdb {
		t.Error("neither gdb nor eu-stack has come to the end of any stack")
	}
}

// take takes all stacks of the process. None of these programs may cause a warning.
func (p *program) take(t *testing.T, pid int) *report.Document {
	t.Helper()
	s, err := targets.Process(context.Background(), pid, live.Options{Timeout: 5 * time.Second, Consistent: p.consistent})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	doc, warnings, err := report.Collect(s, &report.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 && !t.Failed() {
		t.Errorf("warnings: %v", warnings)
	}
	return doc
}

// install installs the program's packages if it can.
func (p *program) install(t *testing.T) { commandtest.InstallPackages(t, "elfutils "+p.apt) }

// start starts the program, and waits until it is at work. What it starts ends with it.
func (p *program) start(t *testing.T) *gdbtest.Process {
	t.Helper()
	sh := gdbtest.StartRunning(t, "sh", "-c", "echo ready; exec "+p.run+" >/dev/null 2>&1")
	t.Cleanup(func() { unix.Kill(-sh.PID, unix.SIGKILL) })
	awaitWork(t, sh.PID)
	return sh
}

// awaitWork waits until a process has taken a second of CPU time: then it has started, and is in
// its endless loop.
func awaitWork(t *testing.T, pid int) {
	t.Helper()
	clock := int32(^pid<<3 | 2) // of the process's CPU time, see clock_getcpuclockid(3)
	gdbtest.Await(t, fmt.Sprintf("process %d has worked", pid), func() bool {
		var took unix.Timespec
		if err := unix.ClockGettime(clock, &took); err != nil {
			t.Fatalf("the program has ended: %v", err)
		}
		return took.Sec >= 1
	})
}

var euLine = regexp.MustCompile(`(?m)^(?:TID (\d+):|#\d+ +0x([0-9a-f]+))`)

// euStack returns the addresses at which eu-stack's stacks end, by thread.
func euStack(t *testing.T, pid int) map[int][]address.Hex {
	t.Helper()
	out, err := exec.Command("eu-stack", "-n", "0", "-p", strconv.Itoa(pid)).Output()
	if len(out) == 0 {
		t.Fatalf("eu-stack: %v", err) // it exits with 1 where a stack ends early
	}
	last, tid := make(map[int][]address.Hex), 0
	for _, m := range euLine.FindAllSubmatch(out, -1) {
		if len(m[1]) > 0 {
			tid, _ = strconv.Atoi(string(m[1]))
			continue
		}
		pc, err := strconv.ParseUint(string(m[2]), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		last[tid] = []address.Hex{address.At(pc)}
	}
	return last
}

// listed formats a thread's stack for a message.
func listed(th *report.Thread) string {
	var b bytes.Buffer
	for i, f := range th.Frames {
		if i > 10 && i < len(th.Frames)-10 {
			continue
		}
		fmt.Fprintf(&b, "\n#%d %#x %s %s %s", f.Level, f.PC.V, f.Function, filepath.Base(f.Module), f.Sniffer)
	}
	return b.String()
}
