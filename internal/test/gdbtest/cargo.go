//go:build linux

package gdbtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Cargo is a way to build programs of Rust that need crates.
type Cargo struct {
	Name   string
	tool   string   // the program cargo
	env    []string // of it
	config string   // Cargo's settings; "" for the usual ones
}

// debianCrates is where Debian's packages have the sources of crates.
const debianCrates = "/usr/share/cargo/registry"

// Cargos returns the ways that this machine has to build programs that need some crates: Debian's
// packages, and the user's own toolchain with what it has fetched. The test is skipped if there is
// none.
func Cargos(t testing.TB, crates ...string) (list []Cargo) {
	t.Helper()
	Later(t, "rustc")
	in := func(dir string) bool {
		for _, c := range crates {
			if found, _ := filepath.Glob(filepath.Join(dir, c+"-[0-9]*")); len(found) == 0 {
				return false
			}
		}
		return true
	}
	if in(debianCrates) {
		if _, err := os.Stat("/usr/bin/cargo"); err == nil {
			config := "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"" + debianCrates + "\"\n"
			list = append(list, Cargo{"Debian", "/usr/bin/cargo", []string{"RUSTC=/usr/bin/rustc"}, config})
		}
	}
	if path, err := exec.LookPath("cargo"); err == nil && path != "/usr/bin/cargo" {
		home, _ := os.UserHomeDir()
		if in(home + "/.cargo/registry/src/*") {
			list = append(list, Cargo{"user", path, nil, ""})
		}
	}
	if len(list) == 0 {
		Missing(t, fmt.Sprintf("there is no cargo with %[1]s (apt-get install cargo librust-%[2]s-dev)", strings.Join(crates, ", "), strings.Join(crates, "-dev librust-")))
	}
	return list
}

// Release returns the number of its rustc's release: 85 of rustc 1.85.
func (c *Cargo) Release(t testing.TB) (n int) {
	t.Helper()
	rustc := "rustc"
	for _, v := range c.env {
		if path, ok := strings.CutPrefix(v, "RUSTC="); ok {
			rustc = path
		}
	}
	text, err := exec.Command(rustc, "--version").Output()
	if err == nil {
		_, err = fmt.Sscanf(string(text), "rustc 1.%d", &n)
	}
	if err != nil {
		t.Fatalf("%s --version: %v\n%s", rustc, err, text)
	}
	return n
}

// Build builds a program without a network, and returns its path. dir has its Cargo.toml, and
// src/main.rs; flags are the ones of "cargo build". The result is kept, as [Build] does, with the
// package of its split debug information beside it, if there is one.
func (c *Cargo) Build(t testing.TB, dir string, flags ...string) string {
	t.Helper()
	cmd := append([]string{c.tool, "build", "--offline"}, flags...)
	kept := buildDir(t, filepath.Join(dir, "src"), c.env, cmd)
	out := filepath.Join(kept, filepath.Base(dir))
	if _, err := os.Stat(out); err == nil {
		return out
	}
	// The crates take minutes: they are kept, too.
	work := filepath.Join(filepath.Dir(kept), "cargo-"+c.Name, filepath.Base(dir))
	if err := os.MkdirAll(filepath.Join(work, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Cargo.toml", "src/main.rs"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(work, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), append(c.env, "CARGO_TARGET_DIR="+filepath.Join(work, "target"))...)
	if c.config != "" {
		home := filepath.Join(work, "home")
		err := os.MkdirAll(home, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(home, "config.toml"), []byte(c.config), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, "CARGO_HOME="+home)
	}
	x := exec.Command(cmd[0], cmd[1:]...)
	x.Dir, x.Env = work, env
	if text, err := x.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd, " "), err, text)
	}
	profile := "debug"
	if i := slices.Index(flags, "--profile"); i >= 0 && flags[i+1] != "dev" {
		profile = flags[i+1]
	}
	made := filepath.Join(work, "target", profile, filepath.Base(dir))
	// Another test may copy the same: each to a name of its own, then rename.
	tmp, err := os.MkdirTemp(kept, "copy")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	copied := filepath.Join(tmp, filepath.Base(dir))
	for _, suffix := range [...]string{".dwp", ""} { // the program last: it says that all is there
		data, err := os.ReadFile(made + suffix)
		if os.IsNotExist(err) && suffix != "" { // no split debug information
			continue
		}
		if err == nil {
			err = os.WriteFile(copied, data, 0o755)
		}
		if err == nil {
			err = os.Rename(copied, out+suffix)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
