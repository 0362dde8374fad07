package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/decorators"
)

// TestLanguages compares the table of languages.md with what the decorators say of themselves.
func TestLanguages(t *testing.T) {
	var table strings.Builder
	table.WriteString("| language | releases | tasks | how sure |\n| --- | --- | --- | --- |\n")
	usual := decorators.Usual()
	described := language.Descriptions(usual)
	if len(described) != len(usual) {
		t.Errorf("%d decorators, %d of which describe themselves", len(usual), len(described))
	}
	page := readFile(t, "languages.md")
	for _, d := range described {
		heading := strings.ToLower(strings.NewReplacer(" ", "-", ",", "", ".", "", "+", "").Replace(d.Title))
		fmt.Fprintf(&table, "| %s | %s | %s | [each row below](#%s) |\n", d.Title, d.Releases, d.Tasks, heading)
		if !strings.Contains(page, "\n## "+d.Title+"\n") {
			t.Errorf("languages.md has no part about %s", d.Title)
		}
	}
	if !strings.Contains(page, "\n"+table.String()) {
		t.Errorf("languages.md has another table than this:\n%s", &table)
	}
}
