package fromelf_test

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// symbols are the records of a file, and what of them others depend on.
type symbols struct {
	set   map[string]int
	funcs map[string]bool // addresses of FUNC
	code  [][2]uint64     // of FUNC
	exprs map[string]bool // addresses of STACK CFI INIT with expressions
}

func number(s string) uint64 {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0
	}
	return n
}

func parse(text string) *symbols {
	s := &symbols{records(text), map[string]bool{}, nil, map[string]bool{}}
	for line := range strings.SplitSeq(text, "\n") {
		if f := strings.Split(line, " "); f[0] == "FUNC" {
			s.funcs[f[1]] = true
			s.code = append(s.code, [2]uint64{number(f[1]), number(f[1]) + number(f[2])})
		} else if strings.HasPrefix(line, "STACK CFI INIT ") && expressions.MatchString(line) {
			s.exprs[f[3]] = true
		}
	}
	slices.SortFunc(s.code, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	return s
}

func (s *symbols) covers(addr uint64) bool {
	i := sort.Search(len(s.code), func(i int) bool { return s.code[i][0] > addr })
	for j := i - 1; j >= max(0, i-4); j-- { // a few may overlap
		if addr < s.code[j][1] {
			return true
		}
	}
	return false
}

var (
	emptyInline = regexp.MustCompile(`^INLINE .*\}( [0-9a-f]+ 0)+$`)
	emptyRange  = regexp.MustCompile(` [0-9a-f]+ 0\b`)
	expressions = regexp.MustCompile(`\^ |[%@/*]|\+ \d+ \+|: \$[a-z0-9]+( -?\d+ \+)? \^`)
	ownRA       = regexp.MustCompile(`\.ra: \.ra\b`)
)

// class returns why a record is only in one of two files, "" if that is not known. theirs says that
// it is in dump_syms' file. docs/symbol-files.md lists the classes.
func class(line string, theirs bool, dumpSyms, own *symbols) string {
	f := strings.Split(line, " ")
	switch f[0] {
	case "INLINE":
		switch {
		case theirs && own.set[line] > 0:
			return "inlined calls with each part of a function"
		case theirs && (emptyInline.MatchString(line) || own.set[emptyRange.ReplaceAllString(line, "")] > 0):
			return "inlined calls without code"
		case strings.Contains(line, "{<name omitted>}"):
			return "names of inlined functions in blocks"
		case !theirs && !emptyInline.MatchString(line):
			return "inlined calls that it does not see"
		}
	case "FILE", "INLINE_ORIGIN":
		return "files and names that only such calls and functions use"
	case "PUBLIC":
		if theirs && own.funcs[f[1]] {
			return "functions that it does not see"
		}
	case "FUNC":
		if !theirs && !dumpSyms.funcs[f[1]] {
			return "functions that it does not see"
		}
	case "STACK":
		switch {
		case ownRA.MatchString(line) || !theirs && strings.Contains(line, ".ra: x30"):
			return "return addresses that are what they are"
		case !theirs && expressions.MatchString(line), theirs && f[2] == "INIT" && own.exprs[f[3]]:
			return "expressions of DWARF"
		case theirs && !strings.Contains(line, ".cfa: "):
			return "code whose CFA no rule says"
		}
	default:
		if lineRecord.MatchString(strings.Join(f[:min(3, len(f))], " ")+" 0") && !theirs && !dumpSyms.covers(number(f[0])) {
			return "functions that it does not see"
		}
	}
	return ""
}

// explain reports the records of a file of dump_syms' and of ours that differ without a reason, and
// counts the reasons.
func explain(t *testing.T, p program, theirs, own *symbols, seen map[string]int) {
	t.Helper()
	shown := 0
	for _, side := range []bool{true, false} {
		a, b := theirs, own
		if !side {
			a, b = own, theirs
		}
		for _, line := range only(a.set, b.set) {
			why := class(line, side, theirs, own)
			seen[why]++
			if why == "" {
				if shown++; shown < 5 {
					t.Errorf("%s: in dump_syms' file %v, in ours %v: %.400s", p.name, side, !side, line)
				}
			}
		}
	}
	if shown > 0 {
		t.Errorf("%s: %d records differ without a reason", p.name, shown)
	}
}

// checkReasons reports reasons that were not seen.
func checkReasons(t *testing.T, seen map[string]int) {
	t.Helper()
	for _, why := range []string{"expressions of DWARF", "functions that it does not see", "inlined calls that it does not see", "inlined calls without code",
		"return addresses that are what they are", "inlined calls with each part of a function"} {
		if seen[why] == 0 {
			t.Errorf("no record differs by %s", why)
		}
	}
}
