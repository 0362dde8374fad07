//go:build unix

package external

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// folder makes a folder with plug-ins. Their contents do not matter.
func folder(t *testing.T, names ...string) string {
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	write := func(dir, name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name    string
		make    func(dir string)
		found   string // names with checksums
		warning string // what the one warning must say; "" for none
	}{
		{"all", func(string) {}, "sniffer-a sniffer-b", ""},
		{"others", func(dir string) { write(dir, "README", "", 0o755) }, "sniffer-a sniffer-b", ""},
		{"not executable", func(dir string) { write(dir, "sniffer-a", "", 0o644) }, "sniffer-b", "chmod +x"},
		{"writable file", func(dir string) { write(dir, "sniffer-a", "", 0o757) }, "sniffer-b", "others may write to"},
		{"writable folder", func(dir string) { os.Chmod(dir, 0o757) }, "", "others may write to"},
		{"sticky folder", func(dir string) { os.Chmod(dir, 0o777|os.ModeSticky) }, "", "others may write to"},
		{"another's file", func(dir string) { os.Chown(filepath.Join(dir, "sniffer-b"), 12345, 0) }, "sniffer-a", "belongs to user 12345"},
		{"another's folder", func(dir string) { os.Chown(dir, 12345, 0) }, "", "belongs to user 12345"},
		{"a link to another's", func(dir string) {
			other := folder(t, "sniffer-x")
			os.Chown(filepath.Join(other, "sniffer-x"), 12345, 0)
			os.Symlink(filepath.Join(other, "sniffer-x"), filepath.Join(dir, "sniffer-c"))
		}, "sniffer-a sniffer-b", "belongs to user 12345"},
		{"a folder", func(dir string) { os.Mkdir(filepath.Join(dir, "sniffer-c"), 0o755) }, "sniffer-a sniffer-b", ""},
		{"locked", func(dir string) { write(dir, LockFile, "# mine\n\n"+sum+"  sniffer-a\n"+sum+" *./sniffer-b\n", 0o644) }, "sniffer-a=" + sum + " sniffer-b=" + sum, ""},
		{"not in the lock file", func(dir string) { write(dir, LockFile, sum+"  sniffer-a\n", 0o644) }, "sniffer-a=" + sum, "sha256sum sniffer-b >> plugins.lock"},
		{"a broken lock file", func(dir string) { write(dir, LockFile, sum+"\n", 0o644) }, "", "line 1: want a checksum"},
		{"a lock file that others may write", func(dir string) { write(dir, LockFile, sum+"  sniffer-a\n", 0o666) }, "", "others may write to"},
		{"a huge lock file", func(dir string) { write(dir, LockFile, strings.Repeat("x", 2<<20), 0o644) }, "", "token too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.warning, "belongs") {
				gdbtest.NeedRoot(t)
			}
			dir := folder(t, "sniffer-a", "sniffer-b")
			tt.make(dir)
			list, warnings := Find(filepath.Join(dir, "missing"), dir)
			var found []string
			for _, f := range list {
				name := filepath.Base(f.Path)
				if f.SHA256 != "" {
					name += "=" + f.SHA256
				}
				found = append(found, name)
			}
			if got := strings.Join(found, " "); got != tt.found {
				t.Errorf("found %q, want %q", got, tt.found)
			}
			switch {
			case tt.warning == "" && len(warnings) > 0, tt.warning != "" && len(warnings) != 1:
				t.Errorf("warnings %v", warnings)
			case tt.warning != "" && !strings.Contains(warnings[0].Error(), tt.warning):
				t.Errorf("warning %q, want one that says %q", warnings[0], tt.warning)
			}
		})
	}
}
