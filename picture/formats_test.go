package picture_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/picture"
)

// Each row of the table is whole, no two rows say the same, and docs/recording.md names each format
// with all of its suffixes in one row. docs/many.md names the formats of stacks of one moment.
func TestFormats(t *testing.T) {
	page, err := os.ReadFile("../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	many, err := os.ReadFile("../docs/many.md")
	if err != nil {
		t.Fatal(err)
	}
	named, ended := map[string]bool{}, map[string]bool{}
	for i := range picture.Formats {
		f := &picture.Formats[i]
		if f.Name == "" || named[f.Name] || strings.ContainsAny(f.Name, " ,()") {
			t.Errorf("the name %q is empty, no word, or stands twice", f.Name)
		}
		named[f.Name] = true
		if f.Help != f.Name && !strings.HasPrefix(f.Help, f.Name+" (") {
			t.Errorf("%s: the help text is %q", f.Name, f.Help)
		}
		if len(f.Suffixes) == 0 && (f.Name != "json" || len(f.More) > 0) || len(f.Suffixes) > 0 && f.For == "" {
			t.Errorf("%s: suffixes %q and %q, for %q", f.Name, f.Suffixes, f.More, f.For)
		}
		documented := []string{"| `" + f.Name + "` |"}
		for _, suffix := range slices.Concat(f.Suffixes, f.More) {
			if !strings.HasPrefix(suffix, ".") || suffix != strings.ToLower(suffix) || ended[suffix] {
				t.Errorf("%s: the suffix %q has no dot, has capitals, or stands twice", f.Name, suffix)
			}
			ended[suffix] = true
			for _, name := range []string{"x" + suffix, "x.y" + strings.ToUpper(suffix), suffix} {
				if found := picture.FormatOfFile(name); found != f {
					t.Errorf("%s: the name %s tells %+v", f.Name, name, found)
				}
			}
			documented = append(documented, "`"+suffix+"`")
		}
		if !slices.ContainsFunc(strings.Split(string(page), "\n"), func(line string) bool {
			return !slices.ContainsFunc(documented, func(text string) bool { return !strings.Contains(line, text) })
		}) {
			t.Errorf("docs/recording.md: no line has all of %q", documented)
		}
		if !f.Profiles && !strings.Contains(string(many), "\n| `"+f.Name+"` |") {
			t.Errorf("docs/many.md has no row for %s", f.Name)
		}
		if picture.FormatNamed(f.Name) != f {
			t.Errorf("%s: another format is found by this name", f.Name)
		}
		var direct bytes.Buffer
		if err := f.Write(example(), &direct); err != nil || direct.Len() == 0 {
			t.Errorf("%s: %d bytes: %v", f.Name, direct.Len(), err)
		}
		if out := written(t, example(), f.Name); out != direct.String() {
			t.Errorf("%s: Write by name writes %q, and Write of the format %q", f.Name, out, direct.String())
		}
	}
	for _, m := range regexp.MustCompile("(?:^|[|;,]) `(\\.[a-z.]+)`").FindAllStringSubmatch(string(page), -1) {
		if !ended[m[1]] {
			t.Errorf("docs/recording.md names the suffix %s, which no format has", m[1])
		}
	}
	for _, name := range []string{"", "x", "gz", "x.gz/y", "x.firefox", "x.sv"} {
		if f := picture.FormatOfFile(name); f != nil {
			t.Errorf("%q tells %s", name, f.Name)
		}
	}
	if err := example().Write(&bytes.Buffer{}, "svg"); err == nil {
		t.Error("svg is a format, which is a suffix alone")
	}
}
