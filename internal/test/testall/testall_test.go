package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// write makes a module of three packages in a new folder, in which the test then runs.
func write(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module example\n",
		"good/good_test.go": `package good
import "testing"
func TestGood(t *testing.T) { t.Log("nobody is to see this") }
func TestLong(t *testing.T) { t.Error("left out") }
func TestParts(t *testing.T) {
	t.Run("here", func(t *testing.T) {})
	t.Run("later", func(t *testing.T) { t.Skip("SKIPPED, NOT TESTED: it needs qemu (make rest)") })
	t.Run("never", func(t *testing.T) { t.Skip("SKIPPED, NOT TESTED: no such processor") })
}
`,
		"bad/bad_test.go": `package bad
import "testing"
func TestBad(t *testing.T) { t.Error("what is wrong") }
` + strings.Repeat("// long\n", 200),
		"broken/broken_test.go": "package broken\nfunc f() { undefined() }\n",
		"none/none.go":          "package none\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRun runs go test on a module: a failure, an error of the compiler and what was left are told,
// and nothing of what has passed.
func TestRun(t *testing.T) {
	c := commandLine{goCommand: gdbtest.Tool(t, "go"), timeout: "1m", skip: "^TestLong$"}
	write(t)
	packages, err := list(c.goCommand, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	first, behind := order(packages, "./good")
	if len(first) != 2 || first[0].path != "example/bad" || len(behind) != 1 || behind[0].path != "example/good" {
		t.Fatalf("%v, then %v", first, behind)
	}
	var out bytes.Buffer
	r := newReport(&out, 3)
	if c.test(first, r) {
		t.Error("a package that does not compile has passed")
	}
	if !c.test(behind, r) {
		t.Error("a good package has failed")
	}
	r.summary()
	for _, want := range []string{"what is wrong", "undefined: undefined", "FAIL ", "ok  ", "2 tests  example/good",
		"left to 'make rest': 1 tests", "NOT TESTED,   1 times: no such processor", "FAILED: example/bad, example/bad TestBad, example/broken"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "nobody") {
		t.Errorf("a good test is heard:\n%s", &out)
	}

	if err := r.writeLeft("cache/left"); err != nil {
		t.Fatal(err)
	}
	c.run = "^TestLong$"
	rest, err := c.restOf("cache/left", packages)
	if err != nil || len(rest) != 1 || rest[0].path != "example/good" || c.run != "^(TestLong|TestParts)$" {
		t.Errorf("the rest: %q of %v, %v", c.run, rest, err)
	}
	if rest, err = c.restOf("cache/none", packages); err != nil || len(rest) != 3 || c.run != "" {
		t.Errorf("without a list: %q of %v, %v", c.run, rest, err)
	}
}

// TestInParts: each test runs in one of the parts, and the failure of one part is the run's.
func TestInParts(t *testing.T) {
	c := commandLine{goCommand: gdbtest.Tool(t, "go"), timeout: "1m", skip: "^TestLong$", parts: 3}
	write(t)
	for pattern, want := range map[string]bool{"./good": true, "./good ./bad": false} {
		packages, err := list(c.goCommand, strings.Fields(pattern))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		r := newReport(&out, 3*len(packages))
		if ok := c.test(packages, r); ok != want {
			t.Errorf("%s: passed: %t:\n%s", pattern, ok, &out)
		}
		ran := regexp.MustCompile(`(?m)^(?:ok|FAIL) .* (\d+) tests  example/good \(part \d of 3\)$`).FindAllStringSubmatch(out.String(), -1)
		sum := 0
		for _, m := range ran {
			n, _ := strconv.Atoi(m[1])
			sum += n
		}
		if len(ran) != 3 || sum != 2 {
			t.Errorf("%s: %d tests of 2 in %d parts of 3:\n%s", pattern, sum, len(ran), &out)
		}
	}
}

// TestHeartbeat: where nothing happens, a line says which test runs.
func TestHeartbeat(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	report := newReport(w, 2)
	for _, e := range []event{{Action: "start", Package: module + "/symbol"}, {Action: "run", Package: module + "/symbol", Test: "TestNames"}} {
		report.take(e)
	}
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() { report.heartbeat(time.Millisecond, stop); close(ended) }()
	line := make([]byte, 200)
	n, err := r.Read(line)
	close(stop)
	<-ended
	w.Close()
	if text := string(line[:n]); err != nil || !strings.Contains(text, "0 of 2 packages; symbol TestNames (0 s)") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLeft: a test is written once, whichever of its parts are left; so is one with a recorded
// answer.
func TestLeft(t *testing.T) {
	r := newReport(&bytes.Buffer{}, 1)
	for _, part := range []string{"arm64", "s390x"} {
		name := "TestRegisters/" + part
		r.take(event{Action: "output", Package: "x", Test: name, Output: "    skip.go:1: SKIPPED, NOT TESTED: it needs qemu-" + part + " " + leftToRest + "\n"})
		r.take(event{Action: "skip", Package: "x", Test: name})
	}
	r.take(event{Action: "output", Package: "x", Test: "TestRows/gdb", Output: "    recorded.go:1: REPLAYED: what readelf has said of /usr/bin/gdb (make rest)\n"})
	if !slices.Equal(r.left, []string{"x TestRegisters", "x TestRows"}) {
		t.Errorf("%q", r.left)
	}
}
