// Package headers writes the layouts of structures as the C headers of a release have them. The
// programs that make the tables of layouts use it; nothing else does.
package headers

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Write writes a line for each field of a table that the headers have: its name, and its value in
// decimal. The lines of the table have a name, and C expressions of which the first that the
// headers know is its value: "thread.next  PyThreadState.next | 8". TYPE.MEMBER is short for
// offsetof(TYPE, MEMBER). before is C that stands before the expressions, and includes the headers;
// flags are the compiler's. The compiler (CC, else cc) must be for a processor of the same sizes as
// the layout is for.
func Write(w io.Writer, table, before string, flags []string) error {
	list, err := readProbes(table)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "layouts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	flags = append([]string{"-w", "-fmax-errors=0"}, flags...)
	// The compiler says which of the expressions name what the headers lack: those are left out.
	left, err := missing(dir, before, flags, list)
	if err != nil {
		return err
	}
	list = first(list, left)
	if left, err = missing(dir, before, flags, list); err != nil || len(left) > 0 {
		return fmt.Errorf("%d expressions cannot be compiled, %v", len(left), err)
	}
	file, program := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if out, err := exec.Command(compiler(), append(flags, "-o", program, file)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// Differ returns the lines that are in one of two layouts alone.
func Differ(a, b string) (differ []string) {
	count := map[string]int{}
	for line := range strings.Lines(a) {
		count[line]++
	}
	for line := range strings.Lines(b) {
		count[line]--
	}
	for line, n := range count {
		if n != 0 {
			differ = append(differ, strings.TrimSpace(line))
		}
	}
	return differ
}

// probe is an expression that may be the value of a field.
type probe struct{ name, expression string }

func compiler() string {
	if cc := os.Getenv("CC"); cc != "" {
		return cc
	}
	return "cc"
}

// readProbes reads the table of fields.
func readProbes(text string) (list []probe, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("no expression in %q", line)
		}
		for _, x := range strings.Split(rest, "|") {
			list = append(list, probe{name, offsetOf(strings.TrimSpace(x))})
		}
	}
	return list, nil
}

var typeAndMember = regexp.MustCompile(`^(\w+)\.([\w.]+)$`)

// offsetOf writes TYPE.MEMBER in full.
func offsetOf(x string) string {
	if m := typeAndMember.FindStringSubmatch(x); m != nil {
		return fmt.Sprintf("offsetof(%s, %s)", m[1], m[2])
	}
	return x
}

// first returns the first probe of each name that is not left out.
func first(list []probe, left map[int]bool) (kept []probe) {
	for i, p := range list {
		if !left[i] && (len(kept) == 0 || kept[len(kept)-1].name != p.name) {
			kept = append(kept, p)
		}
	}
	return kept
}

var failed = regexp.MustCompile(`(?m)^probes:(\d+):.*error: `)

// missing compiles the probes, and returns the indexes of the ones that fail.
func missing(dir, before string, flags []string, list []probe) (map[int]bool, error) {
	var c bytes.Buffer
	c.WriteString(before)
	// Each probe has a line of its own, and a function: the compiler reports an unknown name once a
	// function.
	for i, p := range list {
		fmt.Fprintf(&c, "#line %d \"probes\"\nlong probe%d(void) { return (long)(%s); }\n", i+1, i, p.expression)
	}
	c.WriteString("int main(void) {\n")
	for i, p := range list {
		fmt.Fprintf(&c, "\tprintf(\"%%s %%ld\\n\", %s, probe%d());\n", strconv.Quote(p.name), i)
	}
	c.WriteString("\treturn 0;\n}\n")
	file := filepath.Join(dir, "layout.c")
	if err := os.WriteFile(file, c.Bytes(), 0o600); err != nil {
		return nil, err
	}
	out, err := exec.Command(compiler(), append(flags, "-fsyntax-only", file)...).CombinedOutput()
	left := map[int]bool{}
	for _, m := range failed.FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		left[n-1] = true
	}
	if err != nil && len(left) == 0 {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return left, nil
}
