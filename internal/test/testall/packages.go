package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A folder is a package with tests.
type folder struct {
	path  string // of import
	dir   string
	tests []string // its files with tests
	size  int64    // of these, in bytes
}

// list returns the packages that match the patterns and have tests.
func list(goCommand string, patterns []string) ([]folder, error) {
	out, err := exec.Command(goCommand, append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, patterns...)...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("go list: %w\n%s", err, exit.Stderr)
		}
		return nil, err
	}
	var all []folder
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		f := folder{path: p.ImportPath, dir: p.Dir, tests: append(p.TestGoFiles, p.XTestGoFiles...)}
		for _, name := range f.tests {
			info, err := os.Stat(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			f.size += info.Size()
		}
		if len(f.tests) > 0 {
			all = append(all, f)
		}
	}
}

// order returns the packages with the longest tests first; last, the end of a path, is by itself.
func order(packages []folder, last string) (first, behind []folder) {
	slices.SortStableFunc(packages, func(a, b folder) int { return cmp.Compare(b.size, a.size) })
	for _, p := range packages {
		if last != "" && strings.HasSuffix(p.path, strings.TrimPrefix(last, ".")) {
			behind = append(behind, p)
		} else {
			first = append(first, p)
		}
	}
	return first, behind
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// restOf has c run the tests of a file that writeLeft has made, and the tests of c.run. It returns
// the packages that have one of them. Without the file, c runs all tests.
func (c *commandLine) restOf(file string, packages []folder) ([]folder, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Printf("testall: there is no %s, which 'make test' makes: all tests run\n", file)
		c.run = ""
		return packages, nil
	}
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	within := map[string]bool{} // the packages with them
	for line := range strings.Lines(string(text)) {
		path, test, _ := strings.Cut(strings.TrimSpace(line), " ")
		names[test], within[path] = true, true
	}
	run, err := regexp.Compile(cmp.Or(c.run, "^$"))
	if err != nil {
		return nil, err
	}
	var some []folder
	for _, p := range packages {
		has := within[p.path]
		for _, name := range p.tests {
			text, err := os.ReadFile(filepath.Join(p.dir, name))
			if err != nil {
				return nil, err
			}
			for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
				if run.MatchString(m[1]) {
					has, names[m[1]] = true, true
				}
			}
		}
		if has {
			some = append(some, p)
		}
	}
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	c.run = "^(" + strings.Join(all, "|") + ")$"
	return some, nil
}
