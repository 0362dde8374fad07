package python_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// suites are tests of Python's own that keep many kinds of frames busy.
var suites = strings.Fields("test_json test_generators test_coroutines test_asyncgen test_contextlib test_queue test_threading_local test_thread test_re test_functools test_descr test_dataclasses test_pickle test_traceback test_sqlite3.test_userfunctions test_xml_etree test_itertools test_sort test_with test_yield_from test_enum test_typing")

// TestStops stops threads at random moments, in Python's own tests, too: each has the frames that
// faulthandler says at the same moment, each in its place.
func TestStops(t *testing.T) {
	watched, busy, tests := absolute(t, "watched.py"), absolute(t, "busy.py"), absolute(t, "suites.py")
	stops := 10
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			gapped := asked(t, interpreter, "sys.version_info[:2] in ((3, 11), (3, 12))")
			t.Setenv("TMPDIR", t.TempDir())
			for _, arguments := range [][]string{{busy}, append([]string{tests}, suites...)} {
				t.Run(filepath.Base(arguments[0]), func(t *testing.T) {
					out, err := os.Create(filepath.Join(t.TempDir(), "frames"))
					if err != nil {
						t.Fatal(err)
					}
					defer out.Close()
					start := func() *gdbtest.Process {
						return gdbtest.StartRunning(t, interpreter, append([]string{watched, out.Name()}, arguments...)...)
					}
					p, free := start(), freeThreaded(t, interpreter)
					seen, crashes, gaps := 0, 0, 0
					for range stops {
						for range rand.N(100) {
							p.States(t) // it runs meanwhile
						}
						p.Stop(t)
						got := walk(t, p.PID)
						gdbtest.Await(t, "the process stands still as before", func() bool { return strings.Trim(p.States(t), "T") == "" })
						if text, ok := atThisMoment(t, p, out, free); ok {
							n, differ := compare(t, got, text, gapped)
							seen, gaps = seen+n, gaps+differ
						} else if p, crashes = start(), crashes+1; crashes > 1+stops/100 {
							t.Errorf("faulthandler has crashed %d times", crashes)
						}
						if t.Failed() {
							break
						}
					}
					if gaps > 1+stops/200 {
						t.Errorf("%d threads differ that were in the evaluator", gaps)
					}
					t.Logf("%d stops, %d frames, %d crashes of faulthandler, %d gaps of it", stops, seen, crashes, gaps)
				})
			}
		})
	}
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// compare compares the frames of all threads with what faulthandler says, and counts them. gapped
// says that faulthandler does not find callers while the evaluator calls a function, for some
// instructions: then differ counts the threads that were in the evaluator. TestCalls looks at these
// instructions.
func compare(t *testing.T, got map[uint64]*decorated, text string, gapped bool) (seen, differ int) {
	t.Helper()
	want, whole := parseFaulthandler(text)
	for thread, d := range got {
		have := d.frames()
		seen += len(have)
		if d.Said != nil && len(d.Said.Warnings) > 0 {
			t.Errorf("thread %#x: %q", thread, d.Said.Warnings)
		}
		if w := want[thread]; w == nil && len(have) > 0 && whole || w != nil && !w.equal(have) {
			if gapped && w != nil && d.Said != nil && d.Said.At[0] != nil && d.Said.At[0].Hidden {
				differ++
				continue
			}
			t.Errorf("thread %#x:\n%s\nfaulthandler:\n%s", thread, strings.Join(have, "\n"), text)
		}
	}
	for thread, w := range want {
		if got[thread] == nil && len(w.frames) > 0 { // else it is just beginning or ending
			t.Errorf("thread %#x is missing", thread)
		}
	}
	return seen, differ
}

// atThisMoment returns what faulthandler says of the threads of a process that SIGSTOP has stopped,
// and lets the process go on. No thread runs before it has been asked, but for faulthandler's own
// code: the main thread is, of all threads; without a GIL each is, of itself. ok is false if that
// code crashes, which reads what the threads may be just changing.
func atThisMoment(t *testing.T, p *gdbtest.Process, out *os.File, free bool) (text string, ok bool) {
	t.Helper()
	runtime.LockOSThread() // a thread is the tracer
	defer runtime.UnlockOSThread()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	var tids []int
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			t.Fatal(err)
		}
		ptrace(t, unix.PTRACE_SEIZE, tid, 0)
		if _, ended := await(t, tid); !ended { // one may be about to end
			tids = append(tids, tid)
		}
	}
	if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	asked := tids
	if !free {
		asked = []int{p.PID}
	}
	from, err := out.Seek(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	last := map[int]syscall.Signal{} // what threads are to be sent
	for _, tid := range asked {
		before := size(t, out)
		if err := unix.Tgkill(p.PID, tid, unix.SIGUSR2); err != nil {
			t.Fatal(err)
		}
		for sig := syscall.Signal(0); sig != syscall.SIGUSR2; {
			ptrace(t, unix.PTRACE_CONT, tid, sig)
			sig, _ = await(t, tid)
		}
		ptrace(t, unix.PTRACE_CONT, tid, syscall.SIGUSR2)
		ended, crashed := false, false
		gdbtest.Await(t, "faulthandler has written", func() bool {
			var w syscall.WaitStatus
			if n, _ := syscall.Wait4(tid, &w, syscall.WALL|syscall.WNOHANG, nil); n == tid {
				sig := delivered(w)
				ended, crashed = !w.Stopped(), sig == syscall.SIGSEGV || sig == syscall.SIGBUS
				if ended || crashed {
					return true
				}
				ptrace(t, unix.PTRACE_CONT, tid, sig) // it was told that the process goes on
			}
			return size(t, out) > before && !blocks(p.PID, tid, syscall.SIGUSR2)
		})
		if crashed || ended && tid == p.PID {
			return "", end(t, p.PID, tids)
		}
		if !ended {
			syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_INTERRUPT, uintptr(tid), 0, 0, 0, 0) // it may just end
			last[tid], ended = await(t, tid)
		}
		if ended {
			tids = slices.DeleteFunc(slices.Clone(tids), func(id int) bool { return id == tid })
		}
	}
	for _, tid := range tids {
		ptrace(t, unix.PTRACE_DETACH, tid, last[tid])
	}
	written := make([]byte, size(t, out)-from)
	if _, err := out.ReadAt(written, from); err != nil {
		t.Fatal(err)
	}
	return string(written), true
}

// end ends a process whose threads are traced, which end for their tracer first. It returns false.
func end(t *testing.T, pid int, tids []int) bool {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, tid := range slices.Backward(tids) { // the leader is the last to end
		var w syscall.WaitStatus
		for err := error(nil); err == nil || err == syscall.EINTR; {
			if _, err = syscall.Wait4(tid, &w, syscall.WALL, nil); err == nil && !w.Stopped() {
				break
			}
		}
	}
	return false
}

func ptrace(t *testing.T, request, tid int, data syscall.Signal) {
	t.Helper()
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(tid), 0, uintptr(data), 0, 0); e != 0 {
		t.Fatalf("ptrace request %#x of thread %d: %v", request, tid, e)
	}
}

// await waits for the next stop of a thread, and returns the signal for which it has stopped, 0 if
// it is another stop.
func await(t *testing.T, tid int) (sig syscall.Signal, ended bool) {
	t.Helper()
	var w syscall.WaitStatus
	_, err := syscall.Wait4(tid, &w, syscall.WALL, nil)
	for err == syscall.EINTR {
		_, err = syscall.Wait4(tid, &w, syscall.WALL, nil)
	}
	if err != nil {
		t.Fatalf("thread %d: %v", tid, err)
	}
	return delivered(w), !w.Stopped()
}

// delivered returns the signal for which a thread has stopped, 0 if it is another stop.
func delivered(w syscall.WaitStatus) syscall.Signal {
	if w>>16 != 0 || !w.Stopped() {
		return 0
	}
	return w.StopSignal()
}

func size(t *testing.T, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// blocks reports whether a thread has a signal blocked, or still to come.
func blocks(pid, tid int, sig syscall.Signal) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
	if err != nil {
		return false // it has ended
	}
	for line := range bytes.Lines(text) {
		name, mask, _ := strings.Cut(string(line), ":")
		if name != "SigBlk" && name != "SigPnd" {
			continue
		}
		bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		if err == nil && bits>>(sig-1)&1 != 0 {
			return true
		}
	}
	return false
}
