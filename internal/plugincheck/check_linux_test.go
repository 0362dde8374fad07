package plugincheck

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/demo"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

func TestMain(m *testing.M) {
	plugintest.Main()
	plugintest.Parallel()
	const patience = 5 * time.Minute // on the slowest machine
	startLimit, answerLimit, endLimit = patience, patience, patience
	os.Exit(m.Run())
}

func check(t *testing.T, path string, o Options) *Report {
	t.Helper()
	r, err := Run(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\a\r") {
		t.Errorf("a terminal would obey %q", &b)
	}
	if testing.Verbose() {
		t.Logf("%s", &b)
	}
	return r
}

// timed are the checks that say how long something has taken: on a busy machine, too long.
var timed = map[string]bool{"start": true, "many-modules": true, "deadline": true}

// TestGood: a good plug-in passes, and the report about it is true.
func TestGood(t *testing.T) {
	for _, mode := range []string{"jit", "jit-plain"} {
		r := check(t, plugintest.Path(t, mode), Options{Host: "test"})
		for _, c := range r.Checks {
			if c.Status != Pass && c.Name != "never" && !timed[c.Name] && !strings.HasPrefix(c.Name, "decorates") && c.Name != "tasks" {
				t.Errorf("%s: %s: %s: %s (%s)", mode, c.Name, c.Status, c.What, c.Fix)
			}
		}
		// Six frames of each of three architectures' stacks.
		if r.Name != "jit" || r.Version != "1.0" || r.Protocol != 1 || r.Claimed != 18 || r.Questions == 0 || r.Slowest == 0 {
			t.Errorf("%+v", r)
		}
		text, err := json.Marshal(r)
		if err != nil || !bytes.Contains(text, []byte(`{"name":"handshake","status":"pass","what":"version 1, unix, grpc"`)) {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// TestFaults: the check for a fault finds it, and says what to fix. The checks before find none.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		mode, check string
		status      Status
		words       string
	}{
		{"hs-exit3", "cookie", Pass, "this is a plug-in"},
		{"hs-exit3", "start", Fail, "exit status 3"},
		{"hs-exit", "start", Fail, "no licence was found"},
		{"hs-garbage", "handshake", Fail, "Welcome"},
		{"hs-core", "handshake", Fail, "want 1"},
		{"hs-version7", "handshake", Fail, "7"},
		{"hs-netrpc", "handshake", Fail, "netrpc"},
		{"hs-nowhere", "handshake", Fail, "/tmp/no-such-socket"},
		{"hs-plain", "tls", Fail, "certificate"},
		{"cookie-silent", "cookie", Warn, "without a word"},
		{"cookie-serves", "cookie", Fail, "serves"},
		{"describe-crash", "tls", Fail, "it goes wrong"},
		{"describe-panic", "tls", Fail, "exit status 2"},
		{"describe-no-name", "description", Fail, "a-z"},
		{"describe-name-builtin", "description", Fail, "sframe"},
		{"describe-name-escapes", "description", Fail, "a-z"},
		{"describe-before-nobody", "description", Fail, "no-such-sniffer"},
		{"describe-pattern", "description", Fail, "lib[a-"},
		{"describe-needs", "description", Fail, "65536"},
		{"describe-version-odd", "description", Fail, "version"},
		{"jit-pdp11", "description", Fail, "pdp11"},
		{"jit-unknown", "description", Warn, "pdp11"},
		{"jit-nobody", "description", Fail, "nobody"},
		{"jit-anywhere", "description", Warn, "any frame"},
		{"begin-crash", "unknown-process", Fail, "it goes wrong"},
		{"begin-exit", "unknown-process", Fail, "exit status 0"},
		{"begin-answer", "unknown-process", Fail, "Ready"},
		{"begin-declines", "unknown-process", Fail, "declines"},
		{"begin-reads", "unknown-process", Fail, "256"},
		{"jit-impatient", "many-modules", Fail, "exit status 2"},
		{"sniff-crash", "odd-addresses", Fail, "it goes wrong"},
		{"sniff-end", "odd-addresses", Fail, "ends the session"},
		{"sniff-number", "odd-addresses", Fail, "question"},
		{"jit-everywhere", "odd-addresses", Fail, "where no code is"},
		{"answer-neither", "odd-addresses", Fail, "declines without a word"},
		{"jit-register", "stacks", Fail, "register 77"},
		{"jit-inward", "stacks", Fail, "inside of THIS"},
		{"jit-wrong", "stacks", Fail, "leads"},
		{"jit-steals", "stacks", Fail, "has its CFA"},
		{"declines", "claims", Skipped, "claims no frame"},
		{"jit-escapes", "answers", Fail, "cannot be shown"},
		{"jit-wide", "ranges", Fail, "in that range"},
		{"jit-never", "never", Fail, "never claims"},
		{"jit-random", "determinism", Fail, "two answers"},
		{"jit-process", "new-process", Fail, "two answers"},
		{"jit-shared", "sessions", Fail, "two answers"},
		{"jit-once-begun", "begin-again", Fail, "two answers"},
		{"jit-window", "unreadable", Fail, "exit status 2"},
		{"jit-too-slow", "deadline", Fail, "the host waits for 250ms"},
		{"jit-reads", "requests", Warn, "3.0 requests"},
		{"jit-chatty", "stdout", Warn, "debug: here"},
		{"jit-plain", "decorates", Skipped, "decorates no stacks"},
		{"toy", "decorates", Pass, "frames of toy, in 3 stacks"},
		{"toy", "decorates-again", Pass, "same way"},
		{"toy", "decorates-cut", Pass, "do not confuse it"},
		{"toy", "claims", Skipped, "it unwinds no frame"},
		{"toy", "description", Pass, "decorates toy"},
		{"toy-none", "decorates", Skipped, "no frame of the stacks that are bundled"},
		{"toy-unknown", "decorates", Warn, "the release of toy is not known"},
		{"toy-early", "decorates", Warn, "enough"},
		{"toy-fails", "decorates", Warn, "a record is broken"},
		{"toy-nowhere", "decorates", Fail, "belong to no place"},
		{"toy-nameless", "decorates", Fail, "without the name of its function"},
		{"toy-crash", "decorates", Fail, "exit status 2"},
		{"toy-random", "decorates-again", Fail, "two decorations"},
		{"toy-timed", "decorates", Pass, "frames of toy"},
		{"toy-holds-timed", "decorates", Warn, "a lock that is held is timed"},
		{"toy", "tasks", Skipped, listsNone},
		{"toy-tasks", "tasks", Pass, "6 tasks"},
		{"toy-tasks", "decorates", Pass, "frames of toy"},
		{"toy-tasks", "description", Pass, "decorates toy"},
		{"toy-tasks-fails", "tasks", Warn, "a task is broken"},
		{"toy-tasks-twice", "tasks", Fail, "two tasks have the ID 0x10"},
		{"toy-tasks-unknown", "tasks", Fail, "awaited by 0x2"},
		{"toy-tasks-kind", "tasks", Fail, "of no kind"},
		{"toy-tasks-id", "tasks", Fail, "without an ID"},
		{"toy-tasks-crash", "tasks", Fail, "exit status 2"},
		{"toy-tasks-random", "tasks", Fail, "two lists"},
		{"fork", "end", Pass, "with its 1 children"},
		{"fork-away", "end", Pass, "with its 1 children"},
	} {
		t.Run(c.mode+" "+c.check, func(t *testing.T) {
			t.Parallel()
			r := check(t, plugintest.Path(t, c.mode), Options{})
			for _, found := range r.Checks {
				if found.Name != c.check {
					continue
				}
				if strings.HasPrefix(c.check, "decorates") && (found.Fix == fixQuick || strings.Contains(found.What, external.ErrDeadline.Error())) {
					return // the machine is busy
				}
				if found.Status != c.status || !strings.Contains(found.What, c.words) {
					t.Errorf("%s: %s: want %s, %q", found.Status, found.What, c.status, c.words)
				}
				asked := found.What != "it decorates no stacks" && found.What != "it unwinds no frame" && found.What != listsNone // else nothing is wrong
				if found.Status != Pass && asked && (found.Fix == "" || strings.Contains(found.Fix, "\n")) {
					t.Errorf("it says to fix %q", found.Fix)
				}
			}
			for _, found := range r.Checks {
				if found.Name == c.check {
					break
				}
				if found.Status == Fail && !timed[found.Name] && found.Fix != fixQuick {
					t.Errorf("before that, %s fails: %s", found.Name, found.What)
				}
			}
		})
	}
}

// shorten shortens the limits for a test that is not parallel.
func shorten(t *testing.T, limit *time.Duration, to time.Duration) {
	was := *limit
	t.Cleanup(func() { *limit = was })
	*limit = to
}

// TestStays: a plug-in that does not end with its host is found.
func TestStays(t *testing.T) {
	shorten(t, &endLimit, 200*time.Millisecond)
	r := check(t, plugintest.Path(t, "stays"), Options{})
	for _, found := range r.Checks {
		if found.Name == "end" && found.Status == Fail && strings.Contains(found.What, "still runs") {
			return
		}
	}
	t.Errorf("%+v", r)
}

// A decorator that is slow each time is told to be quick, unlike one on a machine that was busy
// once.
func TestSlowDecorator(t *testing.T) {
	r := check(t, plugintest.Path(t, "toy-slow"), Options{})
	if !slices.ContainsFunc(r.Checks, func(f Check) bool { return f.Name == "decorates" && f.Status != Pass && f.Fix == fixQuick }) {
		t.Errorf("%+v", r)
	}
}

// TestDeadline: the findings about the time that answers take.
func TestDeadline(t *testing.T) {
	for took, want := range map[time.Duration]Status{slow: Pass, slow + 1: Warn, deadline: Warn, deadline + 1: Fail} {
		c := checker{counts: counts{questions: 1, slowest: took}}
		if found := c.deadline(); found.status != want || !strings.Contains(found.what, "slowest answer") {
			t.Errorf("%v: %v %s, want %v", took, found.status, found.what, want)
		}
	}
}

// TestHangs: plug-ins that do not answer are found in bounded time.
func TestHangs(t *testing.T) {
	shorten(t, &startLimit, 2*time.Second)
	shorten(t, &answerLimit, time.Second)
	shorten(t, &endLimit, 200*time.Millisecond)
	var all sync.WaitGroup // they wait more than they do
	for mode, check := range map[string]string{
		"hs-never": "start", "hs-huge": "start", "hs-stopped": "start", "cookie-hang": "cookie", "describe-hang": "tls", "begin-hang": "unknown-process", "sniff-stop": "odd-addresses",
	} {
		path := plugintest.Path(t, mode)
		all.Go(func() {
			r, err := Run(t.Context(), path, Options{})
			if err != nil {
				t.Errorf("%s: %v", mode, err)
				return
			}
			for _, found := range r.Checks {
				if found.Name == check && found.Status != Fail {
					t.Errorf("%s: %s: %s: %s", mode, found.Name, found.Status, found.What)
				}
			}
		})
	}
	all.Wait()
}

// TestCancelled: the caller can cancel a check.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, plugintest.Path(t, "hs-never"), Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestNoProgram: a missing file is an error, a file that is no program a fault.
func TestNoProgram(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(context.Background(), filepath.Join(dir, "missing"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := check(t, text, Options{}); r.Passed() || r.Checks[0].Fix != "chmod +x "+text {
		t.Errorf("%+v", r)
	}
	if r := check(t, dir, Options{}); r.Passed() {
		t.Errorf("%+v", r)
	}
	if r := check(t, plugintest.Path(t, "declines"), Options{SHA256: strings.Repeat("0", 64)}); r.Passed() || r.Checks[0].Status != Fail || len(r.Checks) < 10 {
		t.Errorf("%+v", r)
	}
	if _, err := Run(context.Background(), plugintest.Path(t, "declines"), Options{Snapshots: []string{text}}); !errors.Is(err, core.ErrNotCore) {
		t.Errorf("a snapshot that is none: %v", err)
	}
}

// TestSnapshot: a user's snapshot is walked as well.
func TestSnapshot(t *testing.T) {
	p, err := demo.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	l, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "demo.snapshot")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Write(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	stacks := func(r *Report) string {
		for _, c := range r.Checks {
			if c.Name == "stacks" {
				return c.What
			}
		}
		return ""
	}
	program := plugintest.Path(t, "jit")
	without, with := stacks(check(t, program, Options{})), stacks(check(t, program, Options{Snapshots: []string{path}}))
	if without[:2] != "9 " || with[:3] != "15 " { // the demo's process has six threads
		t.Errorf("%s; with the snapshot: %s", without, with)
	}
	r := check(t, plugintest.Path(t, "declines"), Options{Snapshots: []string{path}})
	for _, c := range r.Checks {
		if c.Name == "claims" && c.Status != Warn {
			t.Errorf("%+v", c)
		}
	}
}

// FuzzCertificate: any text in the place of a handshake's certificate is a certificate or an error.
func FuzzCertificate(f *testing.F) {
	_, text, err := external.MutualTLS()
	if err != nil {
		f.Fatal(err)
	}
	if block, _ := pem.Decode(text); block != nil {
		f.Add(base64.RawStdEncoding.EncodeToString(block.Bytes))
	}
	f.Add("")
	f.Add("MII=")
	f.Add("MIIB\x1b")
	f.Fuzz(func(t *testing.T, text string) {
		bounds.Hold(t, 64<<10+256*len(text), func() {
			if pool, err := certificates(text); err == nil && pool.Equal(x509.NewCertPool()) {
				t.Error("neither a certificate nor an error")
			}
		})
	})
}
