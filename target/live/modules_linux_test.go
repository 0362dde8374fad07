package live

import (
	"fmt"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"strings"
	"testing"
)

// Mappings are as loaders make them: a file with all its mappings is one module, a file that is
// mapped twice is two.
func TestModulesOf(t *testing.T) {
	for _, c := range []struct{ name, maps, want string }{
		{"a program, its relro page split off", `
55d0d0000000-55d0d0001000 r--p 00000000 fe:00 1 /bin/x
55d0d0001000-55d0d0002000 r-xp 00001000 fe:00 1 /bin/x
55d0d0002000-55d0d0003000 r--p 00002000 fe:00 1 /bin/x
55d0d0003000-55d0d0004000 r--p 00002000 fe:00 1 /bin/x
55d0d0004000-55d0d0005000 rw-p 00003000 fe:00 1 /bin/x
55d0d0005000-55d0d0006000 rw-p 00000000 00:00 0
`, "/bin/x 55d0d0000000-55d0d0005000 5"},
		{"two segments of one page", `
400000-401000 r-xp 00000000 fe:00 1 /bin/small
401000-402000 rw-p 00000000 fe:00 1 /bin/small
`, "/bin/small 400000-402000 2"},
		{"a gap between text and data, as before 2018", `
7f0000000000-7f00001c4000 r-xp 00000000 fe:00 2 /lib/libc.so
7f00001c4000-7f00003c3000 ---p 001c4000 fe:00 2 /lib/libc.so
7f00003c3000-7f00003c7000 r--p 001c3000 fe:00 2 /lib/libc.so
7f00003c7000-7f00003c9000 rw-p 001c7000 fe:00 2 /lib/libc.so
`, "/lib/libc.so 7f0000000000-7f00003c9000 3"},
		{"mapped as data, too, and twice as code", `
7f0000000000-7f0000010000 r--p 00000000 fe:00 3 /lib/a.so
7f0000010000-7f0000014000 r--p 00000000 fe:00 3 /lib/a.so
7f0000014000-7f0000018000 r-xp 00004000 fe:00 3 /lib/a.so
7f1000000000-7f1000004000 r--p 00000000 fe:00 3 /lib/a.so
7f1000004000-7f1000008000 r-xp 00004000 fe:00 3 /lib/a.so
`, "/lib/a.so 7f0000010000-7f0000018000 2\n/lib/a.so 7f1000000000-7f1000008000 2"},
		{"another file of the same name", `
7f0000000000-7f0000004000 r-xp 00000000 fe:00 3 /lib/a.so (deleted)
7f0000004000-7f0000008000 r-xp 00004000 fe:00 4 /lib/a.so
`, "/lib/a.so 7f0000000000-7f0000004000 1\n/lib/a.so 7f0000004000-7f0000008000 1"},
		{"data files, and code of none", `
10000-20000 r--s 00000000 fe:00 5 /usr/lib/locale/locale-archive
7f0000000000-7f0000010000 rwxp 00000000 00:00 0
7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0 [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
`, "[vdso] 7ffc00000000-7ffc00002000 1"},
	} {
		maps, err := procmaps.Parse([]byte(strings.TrimPrefix(c.maps, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		modules := (&files{proc: new(proc)}).modules(maps)
		var got []string
		for _, m := range modules.All() {
			got = append(got, fmt.Sprintf("%s %x-%x %d", m.Path, m.Lo(), m.Hi(), len(m.Mappings)))
		}
		if s := strings.Join(got, "\n"); s != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, s, c.want)
		}
		for _, m := range maps {
			if modules.IsCode(m.Lo) != m.Exec {
				t.Errorf("%s: %x is code: %v", c.name, m.Lo, !m.Exec)
			}
		}
	}
}
