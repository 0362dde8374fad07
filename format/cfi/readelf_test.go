package cfi_test

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The oracle is what readelf prints about the same section.

// oracleFDE is an FDE as readelf shows it.
type oracleFDE struct {
	offset     uint64
	cieOffset  uint64
	start, end uint64
	aug        string
	code, data int64
	ra         int
	rows       []oracleRow
}

// oracleRow is a line of --debug-dump=frames-interp. The cells go by register
// name; the return address column is "ra".
type oracleRow struct {
	lo, hi uint64
	cfa    string
	cells  map[string]string
}

var (
	cieHead    = regexp.MustCompile(`^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ CIE(?: "(.*)" cf=(\d+) df=(-?\d+) ra=(\d+))?`)
	fdeHead    = regexp.MustCompile(`^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
	inRegister = regexp.MustCompile(`(r\d+) \([^)]*\)`)
	rowLine    = regexp.MustCompile(`^([0-9a-f]{8,16}) (\S+)\s*(.*)$`)
)

func hex(t testing.TB, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// readelf runs readelf on a file and returns the part of its output about
// the given section.
func readelf(t testing.TB, dump, file, section string) string {
	t.Helper()
	option := "--debug-dump=" + dump + ",no-follow-links"
	said := gdbtest.Recorded(t, "readelf", file, option, func() string {
		cmd := exec.Command(gdbtest.Tool(t, "readelf"), option, file)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("readelf %s: %v: %s", file, err, complaints.String())
		}
		return string(out)
	})
	return sectionOf(t, said, section)
}

// sectionOf cuts the part about a section out of readelf's output.
func sectionOf(t testing.TB, out, section string) string {
	t.Helper()
	mark := "Contents of the " + section + " section"
	i := strings.Index(out, mark)
	if i < 0 {
		t.Fatalf("readelf shows no %s", section)
	}
	out = out[i+len(mark):]
	if j := strings.Index(out, "Contents of the "); j >= 0 {
		out = out[:j]
	}
	return out
}

// parseInterp reads --debug-dump=frames-interp.
func parseInterp(t testing.TB, text string) []oracleFDE {
	t.Helper()
	type cie struct {
		fde oracleFDE
		row oracleRow
	}
	cies := map[uint64]*cie{}
	var fdes []oracleFDE
	var current *cie // while in a CIE
	var inFDE bool
	var columns []string
	finish := func() {
		if !inFDE {
			return
		}
		f := &fdes[len(fdes)-1]
		if len(f.rows) == 0 { // only the CIE's rules
			f.rows = []oracleRow{{lo: f.start, cfa: cies[f.cieOffset].row.cfa, cells: cies[f.cieOffset].row.cells}}
		}
		// A line holds up to the next one. If several lines have one address, the last counts.
		var rows []oracleRow
		for i, r := range f.rows {
			r.hi = f.end
			if i+1 < len(f.rows) {
				r.hi = min(f.rows[i+1].lo, f.end)
			}
			if r.lo < r.hi {
				rows = append(rows, r)
			}
		}
		f.rows = rows
		inFDE = false
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.Contains(line, " CIE ") {
			if m := cieHead.FindStringSubmatch(line); m != nil {
				finish()
				current = &cie{}
				current.fde.aug = m[2]
				current.fde.code, _ = strconv.ParseInt(m[3], 10, 64)
				current.fde.data, _ = strconv.ParseInt(m[4], 10, 64)
				current.fde.ra, _ = strconv.Atoi(m[5])
				current.fde.cieOffset = hex(t, m[1])
				cies[hex(t, m[1])] = current
				continue
			}
		}
		if strings.Contains(line, " FDE ") {
			if m := fdeHead.FindStringSubmatch(line); m != nil {
				finish()
				c := cies[hex(t, m[2])]
				if c == nil {
					t.Fatalf("readelf: no CIE for %q", line)
				}
				f := c.fde
				f.offset, f.start, f.end = hex(t, m[1]), hex(t, m[3]), hex(t, m[4])
				fdes = append(fdes, f)
				inFDE, current = true, nil
				continue
			}
		}
		if strings.HasPrefix(strings.TrimSpace(line), "LOC ") {
			columns = strings.Fields(line)[2:]
			continue
		}
		m := rowLine.FindStringSubmatch(line)
		if m == nil || !inFDE && current == nil || strings.Contains(line, "ZERO terminator") {
			continue
		}
		r := oracleRow{lo: hex(t, m[1]), cfa: m[2], cells: map[string]string{}}
		cells := strings.Fields(inRegister.ReplaceAllString(m[3], "$1"))
		if len(cells) != len(columns) {
			t.Fatalf("readelf: %d cells in %q, want %d", len(cells), line, len(columns))
		}
		for i, cell := range cells {
			r.cells[columns[i]] = cell
		}
		if inFDE {
			f := &fdes[len(fdes)-1]
			f.rows = append(f.rows, r)
		} else {
			current.row = r
		}
	}
	finish()
	return fdes
}

// program is what --debug-dump=frames says about an FDE beyond its lines.
type program struct {
	version     int             // of the CIE
	expressions map[string]bool // "cfa breg7+8; deref", "r16 breg7+168"
	undefined   map[int]bool    // registers with DW_CFA_undefined
	signed      map[uint64]bool // by address of a line: whether the return address is signed
	used        map[string]int  // instructions
}

var (
	exprLine = regexp.MustCompile(`^DW_CFA_(def_cfa|val|)_?expression:? (?:r(\d+) \(\S+\) )?\((.*)\)$`)
	undef    = regexp.MustCompile(`^DW_CFA_undefined: r(\d+)`)
	advance  = regexp.MustCompile(`^DW_CFA_(?:advance_loc\d?|set_loc|MIPS_advance_loc8):.*?([0-9a-f]{8,16})$`)
	operand  = regexp.MustCompile(`^DW_OP_(\S+)(?: \([^)]*\))?(?:: (\S+))?(?: .*)?$`)
)

func newProgram() *program {
	return &program{0, map[string]bool{}, map[int]bool{}, map[uint64]bool{}, map[string]int{}}
}

// parseFrames reads --debug-dump=frames. The keys of the programs are the offsets of the FDEs.
func parseFrames(t testing.TB, text string) map[uint64]*program {
	t.Helper()
	programs := map[uint64]*program{}
	cies := map[uint64]*program{}
	var p *program
	var loc, end uint64
	var signed bool
	var stack []bool
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if m := fdeHead.FindStringSubmatch(line); m != nil {
			p = newProgram()
			cie := cies[hex(t, m[2])]
			maps.Copy(p.undefined, cie.undefined)
			p.version = cie.version
			programs[hex(t, m[1])] = p
			loc, end, signed, stack = hex(t, m[3]), hex(t, m[4]), false, nil
			p.signed[loc] = false
			continue
		}
		if m := cieHead.FindStringSubmatch(line); m != nil {
			p = newProgram()
			cies[hex(t, m[1])] = p
			continue
		}
		if v, ok := strings.CutPrefix(line, "Version:"); ok {
			p.version, _ = strconv.Atoi(strings.TrimSpace(v))
		}
		if p == nil || !strings.HasPrefix(line, "DW_CFA_") {
			continue
		}
		p.used[strings.TrimRight(strings.Fields(line)[0], ":")]++
		switch {
		case strings.HasPrefix(line, "DW_CFA_AARCH64_negate_ra_state"):
			signed = !signed
			p.signed[loc] = signed
		case line == "DW_CFA_remember_state":
			stack = append(stack, signed)
		case line == "DW_CFA_restore_state":
			signed, stack = stack[len(stack)-1], stack[:len(stack)-1]
			p.signed[loc] = signed
		default:
			if m := undef.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				p.undefined[n] = true
			} else if m := advance.FindStringSubmatch(line); m != nil {
				loc = hex(t, m[1])
				p.signed[loc] = signed
			} else if m := exprLine.FindStringSubmatch(line); m != nil {
				what := "cfa"
				if m[1] != "def_cfa" {
					what = m[1] + "r" + m[2]
				}
				if text := plainExpression(t, m[3]); loc < end { // a PLT's may be cut short
					p.expressions[what+" "+text] = true
				}
			} else if strings.Contains(line, "expression") {
				t.Fatalf("readelf: cannot parse %q", line)
			}
		}
	}
	return programs
}

// plainExpression turns readelf's form of an expression into this package's.
func plainExpression(t testing.TB, s string) string {
	var out []string
	for _, op := range strings.Split(s, "; ") {
		m := operand.FindStringSubmatch(op)
		switch {
		case m == nil:
			t.Fatalf("readelf: cannot parse operation %q", op)
		case m[2] == "":
			out = append(out, m[1])
		case strings.HasPrefix(m[1], "breg"):
			n, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s%+d", m[1], n))
		default:
			out = append(out, m[1]+" "+m[2])
		}
	}
	return strings.Join(out, "; ")
}
