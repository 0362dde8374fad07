//go:build linux

package gdbtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Tool returns the path of the program name. If it is not installed, the test
// is skipped, or fails where tools are required (see the package comment).
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" is not installed (apt-get install "+debianPackage(name)+")")
	}
	return path
}

// Missing ends the test: what it needs is not on this machine.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" || os.Getenv("SFWALK_REQUIRE_TOOLS") == "1" {
		t.Fatal(what)
	}
	t.Skip("SKIPPED, NOT TESTED: " + what)
}

func debianPackage(tool string) string {
	switch tool {
	case "cc":
		return "gcc"
	case "c++":
		return "g++"
	case "readelf", "objdump", "strip", "objcopy", "nm", "dwp":
		return "binutils"
	case "qemu-aarch64", "qemu-s390x":
		return "qemu-user"
	}
	if name, ok := strings.CutSuffix(tool, "-linux-gnu-gcc"); ok {
		return "gcc-" + name + "-linux-gnu libc6-dev-" + strings.Replace(name, "aarch64", "arm64", 1) + "-cross"
	}
	for _, of := range []string{"-linux-gnu-objcopy", "-linux-gnu-dwp"} {
		if name, ok := strings.CutSuffix(tool, of); ok {
			return "binutils-" + name + "-linux-gnu"
		}
	}
	return tool
}

// NeedAMD64 skips the test on another processor: the target programs and the
// committed binaries are for linux/amd64.
func NeedAMD64(t testing.TB) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the target programs are for amd64")
	}
}

// Testdata returns the path of a file under the module's testdata folder.
func Testdata(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir, "testdata"}, elem...)...)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod in the working directory or above it")
		}
		dir = parent
	}
}

// command runs a tool and returns what it wrote on standard output and on
// standard error.
func command(cmd *exec.Cmd) (stdout, stderr string, err error) {
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	err = cmd.Run()
	return out.String(), strings.TrimSpace(msg.String()), err
}
