//go:build linux

package lookup

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A dumpTest is a test of binutils' suites (a file NAME.d): how to make an object, and
// lines of regular expressions that a tool's dump of it must match.
type dumpTest struct {
	name, dir string
	sources   []string
	options   map[string]string // as, ld, objcopy, objdump, readelf, error, …
	lines     []string
}

var dumpOption = regexp.MustCompile(`^#([a-zA-Z_]+):\s*(.*?)\s*$`)

func readDumpTest(t *testing.T, file string) *dumpTest {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := &dumpTest{name: strings.TrimSuffix(filepath.Base(file), ".d"), dir: filepath.Dir(file), options: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		option := dumpOption.FindStringSubmatch(line)
		switch {
		case option == nil || len(d.lines) > 0:
			d.lines = append(d.lines, line)
		case option[1] == "source":
			d.sources = append(d.sources, option[2])
		default:
			d.options[option[1]] += option[2]
		}
	}
	if d.sources == nil {
		d.sources = []string{d.name + ".s"}
	}
	return d
}

// of reports whether the test is for a processor.
func (d *dumpTest) of(p processor) bool {
	targets, ok := d.options["target"]
	if !ok {
		return true
	}
	for _, target := range strings.Fields(targets) {
		if is, _ := filepath.Match(target, p.name+"-pc-linux-gnu"); is {
			return true
		}
	}
	return false
}

// dumps reports whether the test compares a tool's dump of SFrame, and nothing else.
func (d *dumpTest) dumps() bool {
	for _, tool := range []string{"objdump", "readelf"} {
		if flags, ok := d.options[tool]; ok {
			return strings.HasPrefix(flags, "--sframe") && !strings.Contains(flags, " ")
		}
	}
	return false
}

// differs returns the first expression that the text does not match, "" if it matches all, by the
// rules of binutils' regexp_diff: empty lines do not count, "#..." stands for any lines, "#?"
// begins an expression that may be absent, "#!" one that must be absent, and "#pass" is the end.
func (d *dumpTest) differs(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			lines = append(lines, line)
		}
	}
	matches := func(pattern, line string) bool {
		re, err := regexp.Compile("^(?:" + pattern + ")$")
		return err == nil && re.MatchString(line)
	}
	skip, failif := false, false
	for _, want := range d.lines {
		switch {
		case want == "#pass":
			return ""
		case want == "#failif":
			failif = true
		case strings.HasPrefix(want, "#..."):
			skip = true
		case strings.HasPrefix(want, "#?"):
			if len(lines) > 0 && matches(want[2:], lines[0]) {
				lines = lines[1:]
			}
		case strings.HasPrefix(want, "#!"):
			if len(lines) > 0 && matches(want[2:], lines[0]) {
				return want
			}
		case want == "" || want[0] == '#':
		default:
			for skip && len(lines) > 0 && !matches(want, lines[0]) {
				lines = lines[1:]
			}
			if skip = false; len(lines) == 0 || !matches(want, lines[0]) {
				if failif {
					return ""
				}
				return want
			}
			lines = lines[1:]
		}
	}
	if failif {
		return "#failif"
	}
	if len(lines) > 0 && !skip {
		return "nothing, instead of " + lines[0]
	}
	return ""
}
