package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// result is the output of one fuzz test.
type result struct {
	inputs, interesting int
	cpu                 time.Duration // with the time to start
	said                string        // ok, or why not
}

func (r *result) failed() bool { return r.said != "ok" && !strings.HasPrefix(r.said, notTested) }

// notTested begins what is said of a test that has skipped itself.
const notTested = "NOT TESTED: "

// rate is how many inputs were read in a second of CPU time.
func (r *result) rate() float64 {
	return float64(r.inputs) / max(r.cpu.Seconds(), 1)
}

var (
	progress = regexp.MustCompile(`(?m)^fuzz: elapsed: \w+, execs: (\d+) .*new interesting: (\d+)`)
	written  = regexp.MustCompile(`(?m)^ *Failing input written to (\S+)`)
	blind    = regexp.MustCompile(`(?m)^warning: the test binary was not built with coverage instrumentation`)
	// The time is over, which the fuzzer reports as an error: go.dev/issue/75804, mended in Go
	// 1.27.
	over    = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \(.*\)\n    context deadline exceeded\n(?:=== NAME *\n)?FAIL$`)
	seed    = regexp.MustCompile(`(?m)^failure while testing seed corpus entry: Fuzz\w+/(\S+)`)
	skipped = regexp.MustCompile(`(?m)^ +\S+: (?:SKIPPED, NOT TESTED: )?(.*)\n--- SKIP: Fuzz`)
)

// parse reads what a fuzz test has printed.
func parse(out string, err error) result {
	r := result{said: "ok"}
	if all := progress.FindAllStringSubmatch(out, -1); len(all) > 0 {
		last := all[len(all)-1]
		r.inputs, _ = strconv.Atoi(last[1])
		r.interesting, _ = strconv.Atoi(last[2])
	}
	if err == nil || over.MatchString(out) {
		if m := skipped.FindStringSubmatch(out); m != nil {
			r.said = notTested + m[1]
		} else if blind.MatchString(out) {
			r.said = "FAILED: nothing counts what the fuzzer has reached"
		}
		return r
	}
	if m := written.FindStringSubmatch(out); m != nil {
		r.said = "FAILED: " + m[1]
	} else if m := seed.FindStringSubmatch(out); m != nil {
		r.said = "FAILED: " + m[1]
	} else {
		r.said = "FAILED: " + err.Error()
	}
	return r
}
