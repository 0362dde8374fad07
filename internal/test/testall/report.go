package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// module is what the paths of all packages begin with.
const module = "github.com/sfwalk/sfwalk"

// leftToRest is how gdbtest ends the reason of a test that 'make rest' has.
const leftToRest = "(make rest)"

// A report tells what go test does. Its lines go out when they happen.
type report struct {
	mu     sync.Mutex
	out    io.Writer
	began  time.Time
	spoke  time.Time // when the last line went out
	all    int       // packages
	done   int
	active map[string]*active  // packages whose tests run
	builds map[string][]string // what the compiler has said, by package
	failed []string            // packages and tests
	skips  map[string]int      // tests that were not run, by reason
	left   []string            // PACKAGE TEST: the tests that 'make rest' is to run
	old    int                 // recorded answers that no run has asked anew for a month
}

// active is a package whose tests run.
type active struct {
	began  time.Time
	tests  map[string]time.Time // the tests that run, and since when
	output map[string][]string  // of tests that have not passed, and of the package itself as ""
	ran    int
}

func newReport(out io.Writer, packages int) *report {
	now := time.Now()
	return &report{out: out, began: now, spoke: now, all: packages, active: map[string]*active{}, builds: map[string][]string{}, skips: map[string]int{}}
}

// take takes an event of go test.
func (r *report) take(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Action {
	case "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
		return
	case "build-fail":
		r.say("%s", strings.TrimSpace(strings.Join(r.builds[e.ImportPath], "")))
		return
	}
	p := r.active[e.Package]
	if p == nil {
		p = &active{began: time.Now(), tests: map[string]time.Time{}, output: map[string][]string{}}
		r.active[e.Package] = p
	}
	switch e.Action {
	case "output":
		p.output[e.Test] = append(p.output[e.Test], e.Output)
		if strings.Contains(e.Output, "RECORDED LONG AGO: ") {
			r.old++
		}
		if strings.Contains(e.Output, "REPLAYED: ") {
			r.leave(e)
		}
	case "run", "cont":
		p.tests[e.Test] = time.Now()
	case "pause":
		delete(p.tests, e.Test)
	case "pass", "skip", "fail":
		if e.Test == "" {
			r.ended(e, p)
			return
		}
		r.endedTest(e, p)
	}
}

// endedTest takes the end of a test.
func (r *report) endedTest(e event, p *active) {
	delete(p.tests, e.Test)
	if !strings.Contains(e.Test, "/") {
		p.ran++
	}
	switch e.Action {
	case "fail":
		r.failed = append(r.failed, short(e.Package)+" "+e.Test)
		r.say("%s", strings.TrimRight(strings.Join(p.output[e.Test], ""), "\n"))
	case "skip":
		if _, why, ok := strings.Cut(strings.Join(p.output[e.Test], ""), "SKIPPED, NOT TESTED: "); ok {
			why = strings.TrimSpace(strings.SplitN(why, "\n", 2)[0])
			r.skips[why]++
			if strings.HasSuffix(why, leftToRest) {
				r.leave(e)
			}
		}
	}
	delete(p.output, e.Test)
}

// leave has 'make rest' run the test that e is of, with all its parts.
func (r *report) leave(e event) {
	name, _, _ := strings.Cut(e.Test, "/")
	if at := e.Package + " " + name; !slices.Contains(r.left, at) {
		r.left = append(r.left, at)
	}
}

// ended takes the end of a package.
func (r *report) ended(e event, p *active) {
	delete(r.active, e.Package)
	r.done++
	if e.Action == "fail" {
		r.failed = append(r.failed, short(e.Package))
		r.say("%s", strings.TrimRight(strings.Join(p.output[""], ""), "\n"))
		for _, name := range slices.Sorted(maps.Keys(p.tests)) { // running when the program died
			r.say("%s", strings.TrimRight(strings.Join(p.output[name], ""), "\n"))
		}
	}
	took := fmt.Sprintf("%6.1f s", e.Elapsed)
	if strings.Contains(strings.Join(p.output[""], ""), "(cached)") {
		took = " cached "
	}
	verdict := map[string]string{"pass": "ok  ", "fail": "FAIL", "skip": "-   "}[e.Action]
	r.say("%s %s %4d tests  %s", verdict, took, p.ran, short(e.Package))
}

// say writes a line.
func (r *report) say(format string, args ...any) {
	fmt.Fprintf(r.out, format+"\n", args...)
	r.spoke = time.Now()
}

// heartbeat says what runs whenever nothing was said for a time.
func (r *report) heartbeat(after time.Duration, stop <-chan struct{}) {
	tick := time.NewTicker(after / 10)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		r.mu.Lock()
		if time.Since(r.spoke) >= after {
			r.say("     %4.0f s: %d of %d packages; %s", time.Since(r.began).Seconds(), r.done, r.all, r.running())
		}
		r.mu.Unlock()
	}
}

// running says what runs now: the test of each package that runs longest.
func (r *report) running() string {
	var texts []string
	for path, p := range r.active {
		text, since := short(path), p.began
		for name, began := range p.tests {
			if text == short(path) || began.Before(since) {
				text, since = short(path)+" "+name, began
			}
		}
		texts = append(texts, fmt.Sprintf("%s (%.0f s)", text, time.Since(since).Seconds()))
	}
	if len(texts) == 0 {
		return "go compiles"
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// summary says what was not tested, and what has failed.
func (r *report) summary() {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := 0
	for _, why := range slices.Sorted(maps.Keys(r.skips)) {
		if strings.HasSuffix(why, leftToRest) {
			rest += r.skips[why]
		} else {
			r.say("NOT TESTED, %3d times: %s", r.skips[why], why)
		}
	}
	if rest > 0 {
		r.say("left to 'make rest': %d tests and parts of tests", rest)
	}
	if r.old > 0 {
		r.say("%d recorded answers of gdb and other tools are older than a month: 'make rest' asks anew", r.old)
	}
	if len(r.failed) > 0 {
		slices.Sort(r.failed)
		r.say("FAILED: %s", strings.Join(r.failed, ", "))
	}
	r.say("%d packages in %.0f s", r.done, time.Since(r.began).Seconds())
}

// writeLeft writes the tests that 'make rest' has to a file.
func (r *report) writeLeft(file string) error {
	slices.Sort(r.left)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	text := strings.Join(r.left, "\n")
	if text != "" {
		text += "\n"
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// short returns a package's path below the module.
func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}
