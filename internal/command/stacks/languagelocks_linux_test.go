package stacks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// deadlocked is a program of two threads, which write their IDs to a file: a has an RLock and waits
// for a mutex; b has that and waits for the RLock. With "gil", a keeps the interpreter's lock as it
// waits for the mutex, and b waits for that lock. With "join", a has a lock and waits for b's end.
const deadlocked = `
import ctypes, sys, threading, time
libc, gil = ctypes.CDLL(None), sys.argv[2] == "gil"
mutex = ctypes.create_string_buffer(64)
libc.pthread_mutex_init(mutex, None)
lock, plain, first, second = threading.RLock(), threading.Lock(), threading.Event(), threading.Event()
def note(name):
    with open(sys.argv[1], "a") as f:
        f.write("%s %d\n" % (name, threading.get_native_id()))
def a():
    note("a")
    if sys.argv[2] == "join":
        with plain:
            first.set()
            [t for t in threading.enumerate() if t.name == "thread-b"][0].join()
    lock.acquire()
    first.set()
    second.wait()
    (ctypes.PyDLL if gil else ctypes.CDLL)(None).pthread_mutex_lock(mutex)
def b():
    note("b")
    first.wait()
    if sys.argv[2] == "join":
        plain.acquire()
    libc.pthread_mutex_lock(mutex)
    second.set()
    while gil:
        time.sleep(0)
    lock.acquire()
for f in (b, a):  # b is there when a looks for it
    threading.Thread(target=f, name="thread-" + f.__name__, daemon=True).start()
print("ready", flush=True)
time.sleep(1200)
`

// TestPythonDeadlock: a lock of Python's and a mutex of C's are one deadlock. The threads say
// themselves which IDs they have.
func TestPythonDeadlock(t *testing.T) {
	python := gdbtest.Tool(t, "python3")
	for kind, lock := range map[string]string{"rlock": "RLock 0x… (lock)", "gil": "GIL 0x…", "join": "lock 0x… (plain)"} {
		ids := filepath.Join(t.TempDir(), "ids")
		p := gdbtest.Start(t, python, "-c", deadlocked, ids, kind)
		out := ""
		gdbtest.Await(t, "a deadlock", func() bool {
			var err error
			if out, _, err = commandtest.Run("attach", "--consistent", strconv.Itoa(p.PID)); err != nil {
				t.Fatal(err)
			}
			return strings.Contains(out, "deadlock: ")
		})
		text, err := os.ReadFile(ids)
		if err != nil {
			t.Fatal(err)
		}
		tids := map[string]int{}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			name, id, _ := strings.Cut(line, " ")
			tids[name], _ = strconv.Atoi(id)
		}
		_, got, _ := strings.Cut(out, "deadlock: ")
		got = regexp.MustCompile(`0x[0-9a-f]+`).ReplaceAllString(got, "0x…")
		waits := map[string]string{"a": "waits for the mutex 0x…, held by ", "b": "waits for the " + lock + ", held by "}
		if kind == "join" {
			waits["a"] = "waits for the end of thread "
		}
		first, other := "a", "b"
		if tids["b"] < tids["a"] {
			first, other = "b", "a"
		}
		if want := fmt.Sprintf("thread %d %s%d, which %s%d\n", tids[first], waits[first], tids[other], waits[other], tids[first]); got != want {
			t.Errorf("%s: got  %swant %s%s", kind, got, want, out)
		}
		by := "held by"
		if kind == "join" {
			by = "the end of"
		}
		if want := fmt.Sprintf("%s thread %d \"thread-b\"\n", by, tids["b"]); strings.Count(out, want) != 1 {
			t.Errorf("%s: not once: %s%s", kind, want, out)
		}
		if want := fmt.Sprintf("held by thread %d \"thread-a\"\n", tids["a"]); !strings.Contains(out, want) {
			t.Errorf("%s: no %s%s", kind, want, out)
		}
		// Without the flag, nobody says for which mutex a thread waits.
		others := func(line string) bool { return !strings.Contains(line, "seem to be in a deadlock") }
		got = strings.Join(hintsBut(t, others, "attach", strconv.Itoa(p.PID)), "\n")
		want := ""
		if kind == "join" {
			want = fmt.Sprintf("threads %d, %d seem to be in a deadlock: --consistent says whether they are", tids[first], tids[other])
		}
		if got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// cycles is a program with three deadlocks: of a job's result and a lock that the job wants, of two
// locks that are given back in "finally", and of a lock and the import of a module.
const cycles = `
import importlib.abc, importlib.machinery, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
lock, a, b, table = [threading.Lock() for _ in range(4)]
both, importing = threading.Barrier(2), threading.Barrier(2)
pool = ThreadPoolExecutor(1, "pool")
def job():
    with lock:
        pass
def asks():
    with lock:
        pool.submit(job).result()
def one():
    a.acquire()
    try:
        both.wait()
        b.acquire()
    finally:
        a.release()
def two():
    b.acquire()
    try:
        both.wait()
        a.acquire()
    finally:
        b.release()
class Slow(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "slow" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        importing.wait()
        with table:
            pass
sys.meta_path.insert(0, Slow())
def imports():
    import slow
def imports_too():
    with table:
        importing.wait()
        import slow
for f in (asks, one, two, imports, imports_too):
    threading.Thread(target=f, name=f.__name__, daemon=True).start()
print("ready", flush=True)
time.sleep(1200)
`

// TestPythonDeadlocks: futures, imports, and locks that only the code says to be held are parts of
// deadlocks.
func TestPythonDeadlocks(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Tool(t, "python3"), "-c", cycles)
	out := ""
	gdbtest.Await(t, "three deadlocks", func() bool {
		var err error
		if out, _, err = commandtest.Run("attach", "--consistent", strconv.Itoa(p.PID)); err != nil {
			t.Fatal(err)
		}
		return strings.Count(out, "deadlock: ") == 3
	})
	for _, want := range []string{
		`Future 0x[0-9a-f]+, held by thread \d+ "pool_0"`, `lock 0x[0-9a-f]+ \(lock\), held by thread \d+ "asks"`,
		`lock 0x[0-9a-f]+ \(a\), held by thread \d+ "one"`, `lock 0x[0-9a-f]+ \(b\), held by thread \d+ "two"`,
		`lock 0x[0-9a-f]+ \(table\), held by thread \d+ "imports_too"`, `import lock 0x[0-9a-f]+ \(slow\), held by thread \d+ "imports"`,
	} {
		if n := len(regexp.MustCompile(`(?m)waits for the `+want+`$`).FindAllString(out, -1)); n != 1 {
			t.Errorf("%d times %s:\n%s", n, want, out)
		}
	}
}

// held is a program whose thread early waits for a lock that late has, which begins after it.
const held = `
import sys, threading, time
class Vault:
    door = None
vault = Vault()
vault.door = threading.RLock()
taken = threading.Event()
def early():
    taken.wait()
    vault.door.acquire()
def late():
    with open(sys.argv[1], "w") as f:
        f.write("%d\n" % threading.get_native_id())
    with vault.door:
        taken.set()
        time.sleep(1200)
for f in (early, late):
    threading.Thread(target=f, name=f.__name__, daemon=True).start()
print("ready", flush=True)
time.sleep(1200)
`

// TestLockHolderInNamespace: where a process knows its threads by other IDs than this machine does,
// as in a container, the holder of a lock is named by this machine's, also a thread that comes
// later.
func TestLockHolderInNamespace(t *testing.T) {
	gdbtest.NeedRoot(t)
	python, id := gdbtest.Tool(t, "python3"), filepath.Join(t.TempDir(), "id")
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "unshare"), "--pid", "--fork", "--kill-child", python, "-c", held, id)
	own := ""
	gdbtest.Await(t, "the lock to be taken", func() bool {
		text, err := os.ReadFile(id)
		own = strings.TrimSpace(string(text))
		return err == nil && own != ""
	})
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(children))
	holder := ""
	for _, path := range gdbtest.Glob(t, "/proc/"+pid+"/task/*/status") {
		status, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(status), "\t"+own+"\nNSpgid:") {
			holder = filepath.Base(filepath.Dir(path))
		}
	}
	if holder == "" {
		t.Fatalf("no thread of %s is %s in its namespace", pid, own)
	}
	for _, flag := range []string{"--no-lines", "--consistent"} {
		out := ""
		gdbtest.Await(t, "a thread waits", func() bool {
			if out, _, err = commandtest.Run("attach", flag, pid); err != nil {
				t.Fatal(err)
			}
			return strings.Contains(out, "waits for the RLock")
		})
		if !regexp.MustCompile(`waits for the RLock 0x[0-9a-f]+ \(vault\.door\), held by thread ` + holder + `( "late")?\n`).MatchString(out) {
			t.Errorf("%s: thread %s holds the lock:\n%s", flag, holder, out)
		}
	}
}
