package kernelnames

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/usercache"
)

const (
	boot      = "01234567-89ab-cdef-0123-456789abcdef"
	otherBoot = "01234567-89ab-cdef-0123-456789abcdee"

	// own is a list as the kernel writes it, in the ways in which kernels differ: numbers and code
	// before _stext, several names at one address, other symbols in between.
	own = "0000000000000000 A fixed_percpu_data\n0000000000020000 T low\nffffffff81000000 T alias\nffffffff81000000 T _stext\nffffffff81000100 t first\n" +
		"ffffffff81000180 d data\nffffffff81000180 t twin\nffffffff81000180 t other_twin\nffffffff81000300 W weak\nffffffff81000400 T _etext\nffffffff81000500 T later\n"
	module = "ffffffffc0000000 t in_module\t[a_module]\nffffffffc0000040 T behind\t[a_module]\n"
)

// cacheOf returns a cache in a folder, of a kernel with this list.
func cacheOf(t *testing.T, dir, boot, text string) *Cache {
	t.Helper()
	list := filepath.Join(t.TempDir(), "kallsyms")
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Cache{list: list, folder: func() *os.Root { return usercache.Open(dir) }, boot: func() string { return boot }}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

var asked = map[uint64]string{0xffffffff81000000: "alias", 0xffffffff810000ff: "alias", 0xffffffff81000100: "first", 0xffffffff81000180: "twin",
	0xffffffff810002ff: "twin", 0xffffffff810003ff: "weak", 0xffffffff81000450: "_etext", 0xffffffff81000500: "later", 0x20010: "low", 0x10: ""}

func check(t *testing.T, c *Cache, want map[uint64]string) {
	t.Helper()
	got := c.Names(slices.Collect(maps.Keys(want)))
	for addr, name := range want {
		if got[addr] != name {
			t.Errorf("%#x is in %q, want %q", addr, got[addr], name)
		}
	}
}

// The kernel's own functions are kept until the next boot, and what comes and goes is always the
// kernel's word. A kernel whose list has lost those functions shows where the names come from.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kernel")
	check(t, cacheOf(t, dir, boot, own), asked)
	if got := files(t, dir); !slices.Equal(got, []string{boot}) {
		t.Fatalf("there is %v", got)
	}
	if info, err := os.Stat(filepath.Join(dir, boot)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v: want a file for this user alone", info.Mode(), err)
	}
	lost := strings.NewReplacer("first", "FIRST", "weak", "WEAK", "later", "LATER").Replace(own)
	want := maps.Clone(asked)
	want[0xffffffff81000500] = "LATER"
	want[0xffffffffc0000010], want[0xffffffffc0000040] = "in_module", "behind" // loaded meanwhile
	check(t, cacheOf(t, dir, boot, lost+module), want)
	want[0xffffffff81000100], want[0xffffffff810003ff] = "FIRST", "WEAK"
	check(t, cacheOf(t, dir, otherBoot, lost+module), want)
}

// What a file has is not used if the kernel does not tell this user where its functions are, or
// tells otherwise; or if the file is damaged, or is not the user's own. Where the kernel tells, the
// file is written anew.
func TestNotKept(t *testing.T) {
	moved := strings.ReplaceAll(own, "ffffffff81", "ffffffff82")
	hidden := regexp.MustCompile(`(?m)^\w{16}`).ReplaceAllString(own, strings.Repeat("0", 16))
	text := func(path string, change func(string) string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(change(string(b))), 0o600)
	}
	for name, v := range map[string]struct {
		change func(path string) error
		list   string
		want   map[uint64]string
	}{
		"hidden": {nil, hidden, map[uint64]string{0xffffffff81000110: "", 0x110: ""}},
		"moved":  {nil, moved, map[uint64]string{0xffffffff81000110: "low", 0xffffffff82000110: "first"}},
		"a byte": {func(p string) error {
			return text(p, func(s string) string { return strings.Replace(s, "FIRST", "WORST", 1) })
		}, own, asked},
		"cut":   {func(p string) error { return os.Truncate(p, 200) }, own, asked},
		"empty": {func(p string) error { return os.Truncate(p, 0) }, own, asked},
		"of the other boot": {func(p string) error {
			return text(p, func(s string) string { return strings.Replace(s, boot, otherBoot, 1) })
		}, own, asked},
		"others write": {func(p string) error { return os.Chmod(p, 0o666) }, own, asked},
		"another user's": {func(p string) error {
			if os.Geteuid() != 0 {
				return nil
			}
			return os.Chown(p, 4711, 4711)
		}, own, asked},
		"a pipe": {func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return unix.Mkfifo(p, 0o600)
		}, own, asked},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "kernel")
			// The kept functions have other names: so it shows whether they are used.
			check(t, cacheOf(t, dir, boot, strings.Replace(own, "first", "FIRST", 1)), map[uint64]string{0xffffffff81000110: "FIRST"})
			if v.change != nil {
				if err := v.change(filepath.Join(dir, boot)); err != nil {
					t.Fatal(err)
				}
				if name == "another user's" && os.Geteuid() != 0 {
					gdbtest.Cannot(t, "only root can give a file away")
				}
			}
			check(t, cacheOf(t, dir, boot, v.list), v.want)
			if name != "hidden" {
				want := maps.Clone(v.want)
				delete(want, 0xffffffff81000450) // that is never kept
				check(t, cacheOf(t, dir, boot, v.list), want)
			}
		})
	}
}

// A list that is not as the kernel writes it gives names, and nothing is kept.
func TestOddLists(t *testing.T) {
	for name, text := range map[string]string{
		"in no order":       "ffffffff81000000 T _stext\nffffffff81000200 t second\nffffffff81000100 t first\nffffffff81000400 T _etext\n",
		"without its end":   "ffffffff81000000 T _stext\nffffffff81000100 t first\nffffffff81000200 t second\n",
		"with modules":      "ffffffff81000000 T _stext\nffffffff81000080 t x\t[a_module]\nffffffff81000100 t first\nffffffff81000400 T _etext\n",
		"without its start": "ffffffff81000100 t first\nffffffff81000200 t second\nffffffff81000400 T _etext\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "kernel")
			check(t, cacheOf(t, dir, boot, text), map[uint64]string{0xffffffff81000110: "first"})
			if got := files(t, dir); len(got) != 0 {
				t.Errorf("there is %v", got)
			}
		})
	}
}

// Machines that share a home have a file each, and the files that were written first go.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kernel")
	for i := range maxFiles + 3 {
		id := fmt.Sprintf("%s%02d", boot[:34], i)
		check(t, cacheOf(t, dir, id, own), asked)
		old := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, id), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(t, dir); len(got) != maxFiles || got[0] != boot[:34]+"03" {
		t.Errorf("there is %v", got)
	}
}

// Each function of the kernel that runs has the name that its list gives it, whether it is kept or
// not.
func TestThisKernel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kernel")
	c := &Cache{list: listFile, folder: func() *os.Root { return usercache.Open(dir) }, boot: usercache.Boot}
	text, err := os.ReadFile(listFile)
	if err != nil {
		gdbtest.Cannot(t, err.Error())
	}
	names := map[uint64][]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		addr, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		names[addr] = append(names[addr], fields[2])
		if addr == 0 || !strings.Contains("tTwW", fields[1]) {
			names[addr] = append(names[addr], "") // nothing is asked of it
		}
	}
	var addrs []uint64
	for addr, list := range names {
		if !slices.Contains(list, "") {
			addrs = append(addrs, addr)
		}
	}
	if len(addrs) == 0 {
		gdbtest.Cannot(t, "the kernel tells this user no addresses")
	}
	for range 2 {
		for addr, name := range c.Names(addrs) {
			if !slices.Contains(names[addr], name) {
				t.Errorf("%#x is in %q, want one of %v", addr, name, names[addr])
			}
		}
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("there is %v", got)
	}
}

// FuzzTable looks up an address in a table of any bytes.
func FuzzTable(f *testing.F) {
	f.Add([]byte(own), uint64(0xffffffff81000100))
	f.Add([]byte("1 t a\n2 t b\n3 T _etext\n"), uint64(2))
	f.Add([]byte("\n\n"), uint64(0))
	f.Fuzz(func(t *testing.T, text []byte, addr uint64) {
		bounds.Hold(t, 64<<10+8*len(text), func() {
			name, ok := table(text).name(addr)
			if ok && !strings.Contains(string(text), name) {
				t.Errorf("%q is no name of %q", name, text)
			}
			Read(strings.NewReader(string(text)), []uint64{addr})
		})
	})
}
