package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// A commandLine is what go test is called with.
type commandLine struct {
	goCommand, skip, run, timeout string
	atOnce                        int
}

// An event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // in seconds
}

// test runs the tests of the packages and reports whether all have passed.
func (c *commandLine) test(packages []folder, r *report) bool {
	args := []string{"test", "-json", "-vet=off", "-timeout", c.timeout}
	if c.atOnce > 0 {
		args = append(args, "-p", strconv.Itoa(c.atOnce))
	}
	if c.skip != "" {
		args = append(args, "-skip", c.skip)
	}
	if c.run != "" {
		args = append(args, "-run", c.run)
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
		r.take(e)
	}
	return cmd.Wait() == nil
}
