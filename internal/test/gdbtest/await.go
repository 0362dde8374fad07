package gdbtest

import (
	"testing"
	"time"
)

// Await calls is again and again until it reports true. It is for states that nobody announces,
// such as a process's. It gives up when the tests' time is over, and never before, for a machine
// may be slow.
func Await(t testing.TB, what string, is func() bool) {
	t.Helper()
	until := Deadline(t)
	for pause := 50 * time.Microsecond; !is(); pause = min(2*pause, 5*time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not until the end of the tests' time: %s", what)
		}
		time.Sleep(pause)
	}
}

// Deadline returns when a test gives up waiting: some seconds before go test ends all tests of the
// package (-timeout), so that the test can say what it has waited for.
func Deadline(t testing.TB) time.Time {
	if t, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := t.Deadline(); ok {
			return end.Add(-min(10*time.Second, time.Until(end)/10))
		}
	}
	return time.Now().Add(10 * time.Minute) // a benchmark's, or a fuzz test's
}
