package fromcfi_test

import (
	"bufio"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// An interpreted line of call frame information, as binutils' readelf prints it.
type line struct {
	lo, hi uint64
	cfa    string            // "rsp+8", "exp"
	cells  map[string]string // by register name: "c-8", "u", "s", "exp", "r5"
	aug    string
}

var (
	fdeLine = regexp.MustCompile(`^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
	cieLine = regexp.MustCompile(`^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ CIE "(.*)" `)
	rowLine = regexp.MustCompile(`^([0-9a-f]{16}) (\S+)\s*(.*)$`)
	named   = regexp.MustCompile(`(r\d+) \([^)]*\)`)
)

// interpreted runs readelf on a section of a file.
func interpreted(t *testing.T, path, section string) []line {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "readelf"), "--debug-dump=frames-interp,no-follow-links", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(out), section)
}

func parse(t *testing.T, text, section string) []line {
	t.Helper()
	_, text, ok := strings.Cut(text, "Contents of the "+section+" section")
	if !ok {
		t.Fatalf("readelf shows no %s", section)
	}
	text, _, _ = strings.Cut(text, "Contents of the ")
	hex := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var lines []line
	var columns []string
	augs, initial := map[uint64]string{}, map[uint64]line{}
	var cie, lo, hi uint64
	first, inFDE := 0, false
	finish := func() {
		if !inFDE {
			return
		}
		if len(lines) == first { // the FDE adds nothing to the CIE's rules
			l := initial[cie]
			l.lo = lo
			lines = append(lines, l)
		}
		for i := range lines[first:] {
			l := &lines[first+i]
			l.hi, l.aug = hi, augs[cie]
			if first+i+1 < len(lines) {
				l.hi = lines[first+i+1].lo
			}
		}
		first = len(lines)
	}
	s := bufio.NewScanner(strings.NewReader(text))
	for s.Scan() {
		switch m := cieLine.FindStringSubmatch(s.Text()); {
		case m != nil:
			finish()
			cie, inFDE = hex(m[1]), false
			augs[cie] = m[2]
			continue
		}
		if m := fdeLine.FindStringSubmatch(s.Text()); m != nil {
			finish()
			cie, lo, hi, inFDE = hex(m[1]), hex(m[2]), hex(m[3]), true
			continue
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(s.Text()), "LOC"); ok {
			columns = strings.Fields(rest)[1:]
			continue
		}
		m := rowLine.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		l := line{lo: hex(m[1]), cfa: m[2], cells: map[string]string{}}
		for i, cell := range strings.Fields(named.ReplaceAllString(m[3], "$1")) {
			l.cells[columns[i]] = cell
		}
		if inFDE {
			lines = append(lines, l)
		} else {
			initial[cie] = l
		}
	}
	finish()
	return lines
}
