// Testall runs go test and shows where it is: a line for each package that is done, and one each
// ten seconds that says what runs. The output of a test is shown when the test has failed. It ends
// with what was not tested, and with the status of go test.
//
//	testall -skip '^TestLong$' -left .cache/left ./...
//	testall -parts 2 ./symbol
//
// The packages with the longest tests, by their text, begin first: the longest decides when all is
// over. Those of -last begin when all others are done.
//
// With -parts, that many runs of go test share the tests of each package: for one package on
// several processors.
//
// With -left, it writes the tests that were left to 'make rest' to a file, one to a line. With
// -rest, it runs the tests that such a file lists, and the tests that -run names; all tests if
// there is no such file.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	var c commandLine
	flag.StringVar(&c.goCommand, "go", "go", "the go command")
	flag.StringVar(&c.skip, "skip", "", "a regular expression: tests of these names do not run")
	flag.StringVar(&c.run, "run", "", "a regular expression: tests of other names do not run")
	flag.StringVar(&c.timeout, "timeout", "1h", "how long the tests of a package may take, as go test's -timeout has it")
	flag.IntVar(&c.atOnce, "p", 0, "how many packages run at a time; 0 is go test's own choice")
	flag.IntVar(&c.parts, "parts", 1, "how many runs of go test share the tests of each package")
	last := flag.String("last", "", "a package whose tests begin when all others are done")
	left := flag.String("left", "", "the file that gets the tests which were left to 'make rest'")
	rest := flag.String("rest", "", "the file that a run with -left has made: its tests run, too")
	flag.Parse()
	packages, err := list(c.goCommand, flag.Args())
	if err != nil {
		fail(err)
	}
	if *rest != "" {
		if packages, err = c.restOf(*rest, packages); err != nil {
			fail(err)
		}
	}
	first, behind := order(packages, *last)
	if c.parts > 1 && c.run != "" {
		fail(errors.New("-parts runs all tests: it goes with -skip, not with -run or -rest"))
	}
	r := newReport(os.Stdout, (len(first)+len(behind))*max(1, c.parts))
	stop := make(chan struct{})
	go r.heartbeat(10*time.Second, stop)
	ok := true
	for _, some := range [][]folder{first, behind} {
		if len(some) > 0 {
			ok = c.test(some, r) && ok
		}
	}
	close(stop)
	r.summary()
	if *left != "" {
		if err := r.writeLeft(*left); err != nil {
			fail(err)
		}
	}
	if !ok {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "testall: "+strings.TrimSpace(err.Error()))
	os.Exit(1)
}
