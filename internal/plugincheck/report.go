package plugincheck

import (
	"io"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// Status is the result of a check.
type Status uint8

const (
	Pass    Status = iota
	Warn           // it works, but could be better
	Fail           // the host or a user would meet a fault
	Skipped        // it could not be checked; Check.What says why
)

var statusNames = [...]string{Pass: "pass", Warn: "warn", Fail: "FAIL", Skipped: "skipped"}

// String returns "pass", "warn", "FAIL" or "skipped".
func (s Status) String() string { return statusNames[s] }

// MarshalText returns String in lower case, for JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(strings.ToLower(s.String())), nil }

// Check is one check and its result.
type Check struct {
	Name   string        `json:"name"` // short and stable: "ranges"
	Status Status        `json:"status"`
	What   string        `json:"what"`          // what was seen
	Fix    string        `json:"fix,omitempty"` // what to do, in one sentence; "" if nothing
	Took   time.Duration `json:"took_ns"`
}

// Report is the result of [Run].
type Report struct {
	Path          string        `json:"path"`
	Name          string        `json:"name"`     // the plug-in's; "" if it was not reached
	Version       string        `json:"version"`  // the plug-in's
	Protocol      int           `json:"protocol"` // its version; 0 if it was not reached
	Architectures []string      `json:"architectures"`
	Checks        []Check       `json:"checks"` // in the order of the checks
	Questions     int           `json:"questions"`
	Requests      int           `json:"requests"`  // that the plug-in made
	Claimed       int           `json:"claimed"`   // frames of recorded stacks
	Decorated     int           `json:"decorated"` // frames of a language, on recorded stacks
	Slowest       time.Duration `json:"slowest_ns"`
	Took          time.Duration `json:"took_ns"`
}

// Count returns the number of checks with that result.
func (r *Report) Count(s Status) (n int) {
	for i := range r.Checks {
		if r.Checks[i].Status == s {
			n++
		}
	}
	return n
}

// Passed reports whether no check failed. Warnings do not count.
func (r *Report) Passed() bool { return r.Count(Fail) == 0 }

// Write writes the report as text.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	printable.Fprintf(&b, "%s", r.Path)
	if r.Name != "" {
		printable.Fprintf(&b, ": %s %s, protocol %d", r.Name, r.Version, r.Protocol)
	}
	b.WriteString("\n\n")
	width := 0
	for i := range r.Checks {
		width = max(width, len(r.Checks[i].Name))
	}
	for i := 0; i < len(r.Checks); i++ {
		c := &r.Checks[i]
		printable.Fprintf(&b, "%-7s  %-*s  %s\n", c.Status, width, c.Name, c.What)
		if c.Fix != "" {
			printable.Fprintf(&b, "%-7s  %-*s  fix: %s\n", "", width, "", c.Fix)
		}
		also := []string{} // skipped for the same reason
		for c.Status == Skipped && i+1 < len(r.Checks) && r.Checks[i+1].Status == Skipped && r.Checks[i+1].What == c.What {
			i++
			also = append(also, r.Checks[i].Name)
		}
		if len(also) > 0 {
			printable.Fprintf(&b, "%-7s  %-*s  so are %s\n", "", width, "", strings.Join(also, ", "))
		}
	}
	printable.Fprintf(&b, "\n%d questions, slowest answer %v, %d requests; %d passed, %d warnings, %d failed, %d skipped\n",
		r.Questions, r.Slowest.Round(time.Microsecond), r.Requests, r.Count(Pass), r.Count(Warn), r.Count(Fail), r.Count(Skipped))
	_, err := io.WriteString(w, b.String())
	return err
}
