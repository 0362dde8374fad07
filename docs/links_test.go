package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	code    = regexp.MustCompile("`[^`\n]*`")
	unsaid  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks follows the links from page to page, down to the headings.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	more := append(gdbtest.Glob(t, "../examples/*/README.md"), gdbtest.Glob(t, "../cmd/*/README.md")...)
	followed := 0
	for _, page := range append(append(pages, "../README.md", "../SECURITY.md", "../CONTRIBUTING.md"), more...) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(readFile(t, page), ""), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			followed++
			file := page
			if to != "" {
				file = filepath.Join(filepath.Dir(page), to)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %s: %v", page, m[1], err)
			} else if anchor != "" && !hasHeading(readFile(t, file), anchor) {
				t.Errorf("%s: %s: there is no such heading", page, m[1])
			}
		}
	}
	if followed < 20 {
		t.Errorf("only %d links", followed)
	}
}

// hasHeading reports whether a page has the heading of an anchor, as GitHub makes them.
func hasHeading(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		if strings.ReplaceAll(strings.ToLower(unsaid.ReplaceAllString(m[1], "")), " ", "-") == anchor {
			return true
		}
	}
	return false
}
