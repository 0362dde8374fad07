package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// maxWidth is how many columns a line of a comment may have. A tab counts as four.
const maxWidth = 100

// pronoun finds a pronoun that stands before its noun, or in its place: the reader must go back, or
// read on.
var pronoun = regexp.MustCompile(`\b(that|those) of\b|\bthose (which|that|who|whose)\b`)

// unbreakable finds a line that no line break makes narrower: a directive, a link, text that is
// shown as it is.
var unbreakable = regexp.MustCompile(`^//(go:|nolint|line |\t| {2,}|export|[a-z]+:)|https?://\S{60}`)

// TestWords reads the comments of all Go files, their messages, and the pages: no pronoun stands
// before its noun, and no comment is wider than 100 columns.
func TestWords(t *testing.T) {
	files := 0
	each := func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path != ".." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(path, ".pb.go"):
			return nil
		case strings.HasSuffix(path, ".md") && d.Name() != "CHANGELOG.md":
			readPage(t, path)
		case strings.HasSuffix(path, ".go"):
			files++
			readGo(t, path)
		}
		return nil
	}
	if err := filepath.WalkDir("..", each); err != nil {
		t.Fatal(err)
	}
	if files < 1000 {
		t.Errorf("%d files read", files)
	}
}

func readGo(t *testing.T, path string) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(src), "\n")
	for _, group := range f.Comments {
		for _, c := range group.List {
			place := set.Position(c.Pos())
			line := strings.ReplaceAll(lines[place.Line-1], "\t", "    ")
			alone := strings.HasPrefix(strings.TrimSpace(line), "//")
			if n := len([]rune(line)); alone && n > maxWidth && !unbreakable.MatchString(c.Text) {
				t.Errorf("%v: the comment has %d columns, at most %d are easy to read", place, n, maxWidth)
			}
		}
		text := strings.Join(strings.Fields(group.Text()), " ")
		if said := pronoun.FindString(text); said != "" {
			t.Errorf("%v: %q: name the noun", set.Position(group.Pos()), said)
		}
	}
	if strings.HasSuffix(path, "_test.go") {
		return // has messages that it expects, and other tools' ones
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value)
			if said := pronoun.FindString(text); said != "" {
				t.Errorf("%v: %q: name the noun", set.Position(l.Pos()), said)
			}
		}
		return true
	})
}

func readPage(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range pronoun.FindAllString(strings.Join(strings.Fields(string(text)), " "), -1) {
		t.Errorf("%s: %q: name the noun", path, said)
	}
}
