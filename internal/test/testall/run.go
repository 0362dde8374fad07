package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// A commandLine is what go test is called with.
type commandLine struct {
	goCommand, skip, run, timeout string
	atOnce                        int
	parts                         int // of each package's tests, which run at the same time; 0 is 1
}

// An event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // in seconds
}

// test runs the tests of the packages and reports whether all have passed.
func (c *commandLine) test(packages []folder, r *report) bool {
	if c.parts <= 1 {
		return c.goTest(packages, c.run, "", r)
	}
	names, err := testsOf(packages)
	if err != nil {
		fail(err)
	}
	var failed atomic.Bool
	var all sync.WaitGroup
	for i := range c.parts {
		var some []string
		for at := i; at < len(names); at += c.parts {
			some = append(some, names[at])
		}
		part := fmt.Sprintf(" (part %d of %d)", i+1, c.parts)
		all.Go(func() {
			if !c.goTest(packages, "^("+strings.Join(some, "|")+")$", part, r) {
				failed.Store(true)
			}
		})
	}
	all.Wait()
	return !failed.Load()
}

var anyTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// testsOf returns the names of the tests, fuzz tests and examples of packages, each once.
func testsOf(packages []folder) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	for _, p := range packages {
		for _, file := range p.tests {
			text, err := os.ReadFile(filepath.Join(p.dir, file))
			if err != nil {
				return nil, err
			}
			for _, m := range anyTest.FindAllStringSubmatch(string(text), -1) {
				if name := m[1]; !seen[name] {
					seen[name] = true
					names = append(names, name)
				}
			}
		}
	}
	return names, nil
}

// goTest runs the tests of the packages whose names run matches; all tests if it is "". The report
// has part behind the packages' paths.
func (c *commandLine) goTest(packages []folder, run, part string, r *report) bool {
	args := []string{"test", "-json", "-vet=off", "-timeout", c.timeout}
	if c.atOnce > 0 {
		args = append(args, "-p", strconv.Itoa(c.atOnce))
	}
	if c.skip != "" {
		args = append(args, "-skip", c.skip)
	}
	if run != "" {
		args = append(args, "-run", run)
	}
	for _, p := range packages {
		args = append(args, p.path)
	}
	cmd := exec.Command(c.goCommand, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fail(err)
	}
	// What is no event is a sentence of go's own.
	for d := json.NewDecoder(out); ; {
		var e event
		err := d.Decode(&e)
		if err == io.EOF {
			break
		}
		if err != nil {
			text, _ := io.ReadAll(io.MultiReader(d.Buffered(), out))
			fmt.Fprintf(os.Stderr, "go test: %v\n%s", err, text)
			break
		}
		if e.Package != "" {
			e.Package += part
		}
		r.take(e)
	}
	return cmd.Wait() == nil
}
