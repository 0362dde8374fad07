package sniffer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// Programs that run-time systems compile while they run, each of which calls rec twenty times
// within itself, and then works.
const (
	nodeWork = `const works = [() => { const a = []; for (let i = 0; i < 500; i++) a.push((i*7919)%1009); a.sort((x, y) => x-y) },
 () => /(a+)+b/.test('aaaaaaaaaaaac'), () => JSON.stringify(JSON.parse('{"a":[1,2,{"b":"x"}]}')), () => { for (const x of (function*() { for (let i = 0; i < 50; i++) yield i })()); },
 () => { const m = new Map(); for (let i = 0; i < 300; i++) m.set('k'+i, i) }, () => [1, 2, 3].map(x => x*2).filter(x => x > 2)];
function spin(f) { const end = Date.now()+20; while (Date.now() < end) f() }
function rec(d, f) { if (d) return rec(d-1, f)+1; spin(f); return 0 }
for (let i = 0;; i++) rec(20, works[i%works.length]);`
	lispWork = `(defun fib (n) (declare (notinline fib)) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun work (i) (case i (0 (fib 18)) (1 (length (sort (loop for i below 2000 collect (mod (* i 7919) 1009)) #'<)))
 (2 (length (format nil "~a ~s" i "abc"))) (t (let ((x 1)) (dotimes (i 300) (setf x (* x 12345678901))) (integer-length x)))))
(defun rec (d i) (declare (notinline rec)) (if (> d 0) (+ 1 (rec (- d 1) i))
 (let ((end (+ (get-internal-real-time) 30000))) (loop while (< (get-internal-real-time) end) do (work i)) 0)))
(loop (dotimes (i 4) (rec 20 i)))`
	schemeWork = `#lang racket/base
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define works (list (lambda () (fib 18)) (lambda () (length (sort (for/list ([i 2000]) (modulo (* i 7919) 1009)) <))) (lambda () (format "~s" '(1 "abc" 1.5)))))
(define (rec d f) (if (> d 0) (+ 1 (rec (- d 1) f)) (let ([end (+ (current-inexact-milliseconds) 30)]) (let loop () (when (< (current-inexact-milliseconds) end) (f) (loop))) 0)))
(let loop () (for ([f works]) (rec 20 f)) (loop))`
)

// The stacks of such programs are whole, and lead to main. On most, the frames that another tool
// finds are there, in this order. It may leave out some: eu-stack takes any frame pointer for the
// innermost function's. Neither knows a routine that is setting up the frame of its caller
// (node's).
func TestRuntimes(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	other := gdbtest.Tool(t, "eu-stack")
	for _, tt := range []struct {
		name, tool, file, source string
		args                     []string
	}{
		{"node", "node", "work.js", nodeWork, nil},
		{"node with baseline code", "node", "work.js", nodeWork, []string{"--always-sparkplug", "--no-opt"}},
		{"sbcl", "sbcl", "work.lisp", lispWork, []string{"--script"}},
		{"racket", "racket", "work.rkt", schemeWork, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), tt.file)
			if err := os.WriteFile(file, []byte(tt.source), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(gdbtest.Tool(t, tt.tool), append(tt.args, file)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			time.Sleep(5 * time.Second) // it begins, and has compiled what it runs often
			const stops = 64
			equal := 0
			for n := range stops {
				time.Sleep(time.Duration(7+n%13) * time.Millisecond)
				stopped(t, cmd.Process, func(pid int) {
					if compareRuntime(t, pid, other) {
						equal++
					}
				})
			}
			if t.Logf("%d of %d stacks are as eu-stack has them", equal, stops); equal*8 < stops*7 {
				t.Errorf("only %d of %d stacks are as eu-stack has them", equal, stops)
			}
		})
	}
}

// stopped calls do while a process is stopped.
func stopped(t *testing.T, p *os.Process, do func(pid int)) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer p.Signal(syscall.SIGCONT)
	gdbtest.Await(t, "the process is stopped", func() bool {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/stat")
		return regexp.MustCompile(`\) T `).Match(stat)
	})
	do(p.Pid)
}

var framePC = regexp.MustCompile(`(?m)^#\d+ +0x([0-9a-f]+)`)

// compareRuntime walks a process that stands still, and reports whether the other tool's frames are
// on its stack.
func compareRuntime(t *testing.T, pid int, other string) bool {
	t.Helper()
	tg, threads := attach(t, pid)
	defer tg.Close()
	table := sniffer.Table(tg.Arch())
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	var pcs []uint64
	named := false
	for f, err := range stack.All() {
		if err != nil {
			t.Errorf("after %d frames: %v", len(pcs), err)
			break
		}
		pcs = append(pcs, f.PC())
		named = named || functionOf(f) == "main" || functionOf(f) == "__libc_start_main"
	}
	if !named {
		t.Errorf("%d frames, and none is main's", len(pcs))
	}
	if err := walktest.New(tg.Modules(), table).Check(tg, threads[0]); err != nil {
		t.Error(err)
	}
	tg.Close()
	out, _ := exec.Command(other, "-1", "-n", "0", "-p", strconv.Itoa(pid)).Output() // it ends with 1 where a stack ends early
	i := 0
	for _, m := range framePC.FindAllSubmatch(out, -1) {
		pc, _ := strconv.ParseUint(string(m[1]), 16, 64)
		for i < len(pcs) && pcs[i] != pc {
			i++
		}
		if i++; i > len(pcs) {
			t.Logf("%#x is not on the stack where eu-stack has it:\n%x\n%s", pc, pcs, out)
			return false
		}
	}
	return true
}
