package procmaps_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// A file whose code is a copy in memory of no file is a module; data beside code that was made at
// run time is none.
func TestCopiedCode(t *testing.T) {
	for _, test := range []struct{ name, maps, want string }{
		{"its own code", `
1000-2000 r--p 00000000 fe:00 7 /a
2000-3000 r-xp 00001000 fe:00 7 /a
3000-4000 rw-p 00002000 fe:00 7 /a`, "/a"},
		{"all of it copied", `
1000-2000 r--p 00000000 fe:00 7 /a
2000-3000 r-xp 00000000 00:00 0
3000-4000 rw-p 00002000 fe:00 7 /a`, "/a"},
		{"copied in parts", `
1000-2000 r--p 00000000 fe:00 7 /a
2000-3000 r-xp 00000000 00:00 0
3000-4000 rwxp 00000000 00:00 0
4000-5000 rw-p 00003000 fe:00 7 /a`, "/a"},
		{"copied to shared memory", `
1000-2000 r--p 00000000 fe:00 7 /a
2000-3000 r-xp 00000000 00:01 9 /memfd:copy (deleted)
3000-4000 rw-p 00002000 fe:00 7 /a`, "/a /memfd:copy"},
		{"the first segment copied", `
1000-3000 r-xp 00000000 00:00 0
3000-4000 rw-p 00002000 fe:00 7 /a`, "/a"},
		{"the last segment copied", `
1000-2000 rw-p 00000000 fe:00 7 /a
2000-3000 r-xp 00000000 00:00 0`, "/a"},
		{"data alone", `
1000-2000 r--p 00000000 fe:00 7 /fonts
2000-3000 rwxp 00000000 00:00 0`, ""},
		{"apart", `
1000-2000 rw-p 00000000 fe:00 7 /a
3000-4000 rwxp 00000000 00:00 0
5000-6000 rw-p 00000000 fe:00 8 /b`, ""},
		{"a heap", `
1000-2000 rw-p 00000000 fe:00 7 /a
2000-3000 rwxp 00000000 00:00 0 [heap]`, ""},
	} {
		maps, err := procmaps.Parse([]byte(strings.TrimPrefix(test.maps, "\n") + "\n"))
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		var names []string
		procmaps.Modules(maps, func(f *procmaps.File) *target.Module {
			names = append(names, f.Path)
			return target.NewModule(f.Path, f.Mappings, nil)
		})
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: modules %q, want %q", test.name, got, test.want)
		}
	}
}
