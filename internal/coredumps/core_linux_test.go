package coredumps

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

const boot = "64020dc3a9fe4bbd86e2f0b0c6ef52aa"

// stored are the files that systemd-coredump 252 has made of three processes: their names, and what
// getfattr shows. (Installing it changes the machine's core_pattern, so no test runs it.)
var stored = []struct {
	name       string
	attributes map[string]string
}{
	{`core.we\x2eird\x20na\x5c\x5cme.0.` + boot + `.1780.1795944143000000.zst`, map[string]string{
		"comm": `we.ird na\\me`, "exe": `/tmp/docs/we.ird na\me`, "gid": "0", "hostname": "myhost", "pid": "1780", "signal": "11", "uid": "0"}},
	{"core.plain.0." + boot + ".1793.1795944145000000.zst", map[string]string{
		"comm": "plain", "exe": "/tmp/docs/plain", "gid": "0", "hostname": "myhost", "pid": "1793", "signal": "11", "uid": "0"}},
	{"core.plain.0." + boot + ".1806.1795944146000000.zst", map[string]string{
		"comm": "plain", "exe": "/tmp/docs/plain", "gid": "0", "hostname": "myhost", "pid": "1806", "signal": "11", "uid": "0"}},
}

// store makes these files in a new folder.
func store(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, s := range stored {
		path := filepath.Join(dir, s.name)
		if err := os.WriteFile(path, nil, 0o640); err != nil {
			t.Fatal(err)
		}
		for name, value := range s.attributes {
			if err := unix.Setxattr(path, "user.coredump."+name, []byte(value), 0); errors.Is(err, unix.ENOTSUP) {
				gdbtest.Cannot(t, "the file system of "+dir+" keeps no attributes")
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestList(t *testing.T) {
	dir := store(t)
	for _, name := range []string{"core.plain.0." + boot + ".1.1.zst.tmp", ".#core.plain.0." + boot + ".1.1", "README"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.Symlink("/etc/passwd", filepath.Join(dir, "core.link.0."+boot+".1.1")),
		unix.Mkfifo(filepath.Join(dir, "core.fifo.0."+boot+".1.1"), 0o600)); err != nil {
		t.Fatal(err)
	}
	list, err := List(dir)
	if err != nil || len(list) != len(stored) {
		t.Fatalf("%d cores, %v", len(list), err)
	}
	for i, c := range list {
		if filepath.Base(c.Path) != stored[i].name || c.Exe != stored[i].attributes["exe"] || c.Comm != stored[i].attributes["comm"] ||
			c.Signal != 11 || c.GID != 0 || c.Hostname != "myhost" || !c.Readable {
			t.Errorf("%d: %+v", i, c)
		}
	}
	if want := time.Date(2026, 11, 29, 9, 22, 23, 0, time.UTC); !list[0].Time.Equal(want) { // as coredumpctl info has it
		t.Errorf("%v, want %v", list[0].Time, want)
	}
}

// coredumpctl 252 list has the same answers.
func TestMatches(t *testing.T) {
	list, err := List(store(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("/tmp")
	for _, tt := range []struct{ matches, pids string }{
		{"", "1780 1793 1806"},
		{"plain", "1793 1806"},
		{"pla", ""},
		{"1793", "1793"},
		{"1780 1793", "1780 1793"},
		{"/tmp/docs/plain", "1793 1806"},
		{"docs/plain", "1793 1806"},
		{"plain 1780", ""},
		{"plain 1793", "1793"},
		{"COREDUMP_SIGNAL=11 COREDUMP_UID=0 1806", "1806"},
		{"COREDUMP_SIGNAL=6", ""},
		{"COREDUMP_HOSTNAME=myhost COREDUMP_COMM=plain", "1793 1806"},
		{"_BOOT_ID=" + boot, "1780 1793 1806"},
		{"COREDUMP_TIMESTAMP=1795944145000000", "1793"},
	} {
		m, err := NewMatches(strings.Fields(tt.matches))
		if err != nil {
			t.Errorf("%s: %v", tt.matches, err)
			continue
		}
		var pids []string
		for i := range list {
			if m.Match(&list[i]) {
				pids = append(pids, stored[i].attributes["pid"])
			}
		}
		if got := strings.Join(pids, " "); got != tt.pids {
			t.Errorf("%s: %s, want %s", tt.matches, got, tt.pids)
		}
	}
	for _, text := range []string{"COREDUMP_UNIT=nginx.service", "=", ""} {
		if _, err := NewMatches([]string{text}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// Names without attributes say what they can; other names say nothing.
func TestParseName(t *testing.T) {
	for _, name := range []string{
		"", "core", "core.1234", "core.x.0.0.1.1", "core..0." + boot + ".1.1", "core.x.-1." + boot + ".1.1", "core.x.0." + boot + ".0.1",
		"core.x.0." + boot + ".1.1.1", "core.x.0." + boot + ".1.x", `core.\x2.0.` + boot + ".1.1", `core.\y20.0.` + boot + ".1.1", "core.x.0." + strings.ToUpper(boot) + ".1.1",
		"core.x.0." + boot + ".1.99999999999999999999", "core.x.4294967295." + boot + ".1.1",
	} {
		if c, ok := ParseName(name); ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for _, suffix := range []string{"", ".zst", ".xz", ".lz4"} {
		c, ok := ParseName(`core.\x2d\xc3\xbc.1000.` + boot + ".77.1795944143" + suffix)
		if !ok || c.Comm != "-ü" || c.UID != 1000 || c.PID != 77 || c.GID != -1 || c.BootID != boot || c.Time.Unix() != 1795944143 || c.Program() != "-ü" {
			t.Errorf("%s: %+v", suffix, c)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, s := range stored {
		f.Add(s.name)
	}
	f.Add("core.x.0." + boot + ".1.1")
	f.Fuzz(func(t *testing.T, name string) {
		bounds.Hold(t, len(name), func() {
			c, ok := ParseName(name)
			if ok && (c.PID <= 0 || c.UID < 0 || c.Comm == "" || c.Time.IsZero()) {
				t.Errorf("%q: %+v", name, c)
			}
		})
	})
}
