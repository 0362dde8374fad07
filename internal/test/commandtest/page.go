package commandtest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// InPage checks that docs/json.md has every key of a document, in its section on the command.
func InPage(t *testing.T, command, doc string) {
	t.Helper()
	page, err := os.ReadFile(gdbtest.Testdata(t, "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(page), "\n## `"+command)
	if !ok {
		t.Fatalf("docs/json.md says nothing of %s", command)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	var check func(where string, v any)
	check = func(where string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				if !strings.Contains(part, "`"+key+"`") && !strings.Contains(part, `"`+key+`"`) {
					t.Errorf("%s.%s is not described", where, key)
				}
				check(where+"."+key, x)
			}
		case []any:
			for _, x := range v {
				check(where+"[]", x)
			}
		}
	}
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	check("", v)
}
