package external

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

const mallory = 12345

// theirs makes a folder that another user owns and that everybody can enter.
func theirs(t *testing.T) string {
	t.Helper()
	gdbtest.NeedRoot(t)
	dir := filepath.Join(t.TempDir(), "theirs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, mallory, mallory); err != nil {
		t.Fatal(err)
	}
	return dir
}

func scriptFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// If the way to a folder of plug-ins leads through another user's folder, that user can exchange
// the plug-ins, wherever the link there leads now.
func TestFindThroughLink(t *testing.T) {
	dir, good := theirs(t), folder(t, "sniffer-a")
	if err := os.Symlink(good, filepath.Join(dir, "plugins")); err != nil {
		t.Fatal(err)
	}
	mine := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "plugins", "sniffer-a"), filepath.Join(mine, "sniffer-b")); err != nil {
		t.Fatal(err)
	}
	for _, search := range []string{filepath.Join(dir, "plugins"), mine} {
		list, warnings := Find(search)
		if len(list) > 0 || len(warnings) != 1 || !strings.Contains(warnings[0].Error(), dir+" belongs to user 12345") {
			t.Errorf("%s: found %v, warnings %v", search, list, warnings)
		}
	}
	// A folder may become another user's after it was found.
	if _, err := Start(t.Context(), Options{Path: filepath.Join(mine, "sniffer-b"), Guard: true}); err == nil || !strings.Contains(err.Error(), dir+" belongs to user 12345") {
		t.Errorf("it is started: %v", err)
	}
}

// A script's interpreters count as well, at all levels.
func TestInterpreter(t *testing.T) {
	their, mine := theirs(t), t.TempDir()
	for _, dir := range []string{their, mine} {
		scriptFile(t, filepath.Join(dir, "run"), "#!/bin/sh\n")
	}
	scriptFile(t, filepath.Join(their, "only"), "#!/bin/sh\n")
	scriptFile(t, filepath.Join(mine, "through"), "#!"+their+"/run\n")
	t.Setenv("PATH", their+":"+mine+":.:/usr/bin:/bin")
	for _, tt := range []struct{ line, want string }{
		{"#!/bin/sh", ""},
		{"#! /bin/sh -e", ""},
		{"#!/usr/bin/env sh", ""},
		{"#!/usr/bin/env -S X=1 sh -e", ""},
		{"#!" + mine + "/run", ""},
		{"#!/usr/bin/env run", ""}, // env's PATH has no folder of other users
		{"#!" + their + "/run", "belongs to user"},
		{"#!\t" + their + "/run\t-x", "belongs to user"},
		{"#!" + their[1:] + "/run", "belongs to user"}, // plug-ins are run in "/"
		{"#!/usr/bin/env " + their + "/run", "belongs to user"},
		{"#!" + mine + "/through", "belongs to user"},
		{"#!/usr/bin/env through", "belongs to user"},
		{"#!/usr/bin/env only", "no folder of PATH"},
		{"#!/no/such/file", "no such file"},
		{"text", ""},
	} {
		p, err := open(scriptFile(t, filepath.Join(mine, "sniffer"), tt.line+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		err = p.guard()
		p.Close()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.line, err, tt.want)
		}
	}
}

// A guarded plug-in searches no folder of other users for programs and modules.
func TestGuardedEnvironment(t *testing.T) {
	their, mine := theirs(t), t.TempDir()
	t.Setenv("PATH", their+":/usr/bin:.:"+mine)
	for _, name := range []string{"HOME", "TMPDIR"} {
		t.Setenv(name, their)
	}
	for _, guarded := range []bool{false, true} {
		for name, want := range map[string]string{"HOME": their, "TMPDIR": their, "PATH": os.Getenv("PATH")} {
			if guarded {
				want = map[string]string{"PATH": "/usr/bin:" + mine}[name]
			}
			i := slices.IndexFunc(environment(guarded), func(v string) bool { return strings.HasPrefix(v, name+"=") })
			if got := ""; i >= 0 {
				got = strings.TrimPrefix(environment(guarded)[i], name+"=")
				if got != want {
					t.Errorf("guarded %v: %s=%s, want %s", guarded, name, got, want)
				}
			} else if want != "" {
				t.Errorf("guarded %v: no %s", guarded, name)
			}
		}
	}
	t.Setenv("TMPDIR", "/tmp")
	if !slices.Contains(environment(true), "TMPDIR=/tmp") {
		t.Error("a folder that all share, as /tmp is, is left out")
	}
}

// The program that was pinned runs, even if others can change the file.
func TestPinnedCopy(t *testing.T) {
	for _, text := range []string{"#!/bin/sh\necho first\n", "\x7fELF first"} {
		dir := theirs(t)
		path := scriptFile(t, filepath.Join(dir, "sniffer"), text)
		p, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		right, err := p.sum()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.checksum(right); err != nil {
			t.Fatal(err)
		}
		scriptFile(t, path, "second") // the other user may write to it
		c := p.command(false)
		if c.File == nil {
			t.Fatal("the file itself is run")
		}
		got, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", c.File.Fd()))
		if err != nil || string(got) != text {
			t.Errorf("what is run is %q, %v", got, err)
		}
		if err := os.WriteFile(fmt.Sprintf("/proc/self/fd/%d", c.File.Fd()), []byte("third"), 0); err == nil {
			t.Error("what is run can be written to")
		}
	}
}
