package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A region is the text between two comments of the document, which readers do not see.
func regionMarks(name string) (begin, end string) {
	return fmt.Sprintf("<!-- bench: %s -->\n", name), fmt.Sprintf("<!-- end: %s -->\n", name)
}

// goals is the region of the first table.
const goals = "goals"

// Update replaces the regions of the sections' parts. Text outside these regions stays, and so do
// the regions of other parts. If there is no document, Update makes one.
func Update(file, machine string, sections []*Section) error {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = []byte("# Performance\n"), nil
	}
	if err != nil {
		return err
	}
	text := string(raw)
	if text, err = replace(text, goals, mergeGoals(region(text, goals), sections)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, s := range sections {
		if text, err = replace(text, s.Part, s.Body(machine)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for name, data := range s.Files {
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), name), data, 0o666); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

// Goals returns the table of all sections' goals.
func Goals(sections []*Section) string { return mergeGoals("", sections) }

// region returns the text of a region, "" if there is none.
func region(text, name string) string {
	begin, end := regionMarks(name)
	_, text, _ = strings.Cut(text, begin)
	text, _, found := strings.Cut(text, end)
	if !found {
		return ""
	}
	return text
}

// replace puts a new body into a region, at the text's end if there is none.
func replace(text, name, body string) (string, error) {
	begin, end := regionMarks(name)
	before, rest, found := strings.Cut(text, begin)
	if !found {
		return text + "\n" + begin + "\n" + body + "\n" + end, nil
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("%q without %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + body + "\n" + end + after, nil
}

// mergeGoals makes the first table: the old lines of other parts, and the lines of sections.
func mergeGoals(old string, sections []*Section) string {
	t := Table{Head: goalHead}
	fresh := map[string]bool{}
	for _, s := range sections {
		fresh[s.Part] = true
		for i := range s.Goals {
			t.Rows = append(t.Rows, s.Goals[i].row(s.Part))
		}
	}
	var kept [][]string
	for i, line := range strings.Split(strings.TrimSpace(old), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if i >= 2 && len(cells) > 1 && !fresh[cells[0]] {
			kept = append(kept, cells)
		}
	}
	t.Rows = append(kept, t.Rows...)
	return t.String()
}
