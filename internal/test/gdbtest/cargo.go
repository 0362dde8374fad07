//go:build linux

package gdbtest

import (
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

// Cargos returns the ways that this machine has: Debian's packages, and the user's own toolchain
// with what it has fetched. The test is skipped if there is none.
func Cargos(t testing.TB) (list []Cargo) {
	t.Helper()
	Later(t, "rustc")
	if tokio, _ := filepath.Glob(debianCrates + "/tokio-1.*"); len(tokio) > 0 {
		if _, err := os.Stat("/usr/bin/cargo"); err == nil {
			config := "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"" + debianCrates + "\"\n"
			list = append(list, Cargo{"Debian", "/usr/bin/cargo", []string{"RUSTC=/usr/bin/rustc"}, config})
		}
	}
	if path, err := exec.LookPath("cargo"); err == nil && path != "/usr/bin/cargo" {
		home, _ := os.UserHomeDir()
		if tokio, _ := filepath.Glob(home + "/.cargo/registry/src/*/tokio-1.*"); len(tokio) > 0 {
			list = append(list, Cargo{"user", path, nil, ""})
		}
	}
	if len(list) == 0 {
		Missing(t, "there is no cargo with tokio (apt-get install cargo librust-tokio-dev librust-futures-util-dev)")
	}
	return list
}

// Build builds a program without a network, and returns its path. dir has its Cargo.toml, and
// src/main.rs; flags are the ones of "cargo build". The result is kept, as [Build] does.
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
	if slices.Contains(flags, "release") {
		profile = "release"
	}
	data, err := os.ReadFile(filepath.Join(work, "target", profile, filepath.Base(dir)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out+".new", data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(out+".new", out); err != nil {
		t.Fatal(err)
	}
	return out
}
