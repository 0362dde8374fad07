package gdbtest

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Tool returns the path of the program name. If it is not installed, that is Missing.
func Tool(t testing.TB, name string) string {
	t.Helper()
	Later(t, filepath.Base(name))
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" is not installed (apt-get install "+debianPackage(name)+")")
	}
	return path
}

// File returns path, a file that a package installs. If it is not there, that is Missing; but a
// file for amd64 alone cannot be had on another processor.
func File(t testing.TB, path string) string {
	t.Helper()
	Later(t, path)
	if _, err := os.Stat(path); err != nil {
		if runtime.GOARCH != "amd64" && (strings.Contains(path, "x86_64") || strings.Contains(path, "x86-64")) {
			Cannot(t, path+" is for amd64")
		}
		what := err.Error()
		for triple, of := range map[string]string{"aarch64-linux-gnu": "arm64", "s390x-linux-gnu": "s390x"} {
			if strings.HasPrefix(path, "/usr/"+triple+"/lib/") {
				what += " (apt-get install libc6-dev-" + of + "-cross)"
			}
		}
		Missing(t, what)
	}
	return path
}

// Assembler returns the path of an assembler that writes SFrame: binutils has one since 2.40.
func Assembler(t testing.TB, name string) string {
	t.Helper()
	path := Tool(t, name)
	if out, err := exec.Command(path, "--gsframe", "-o", filepath.Join(t.TempDir(), "empty.o"), os.DevNull).CombinedOutput(); err != nil {
		Cannot(t, name+" --gsframe: "+string(out))
	}
	return path
}

// Later ends a test that needs a tool, or a file, which 'make check' or 'make test' does without:
// 'make rest' installs all. The Makefile lists them in SFWALK_LATER, as patterns of names and as
// folders.
func Later(t testing.TB, what string) {
	t.Helper()
	for _, pattern := range strings.Fields(os.Getenv("SFWALK_LATER")) {
		if match, _ := path.Match(pattern, what); match || strings.HasPrefix(what, pattern+"/") {
			skip(t, "it needs "+what+" (make rest)")
		}
	}
}

// Glob returns the files that match the pattern. The test fails where there are none.
func Glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s (%v)", pattern, err)
	}
	return files
}

// Missing ends the test: something that can be installed, or allowed, is not on this machine.
// Where CI=true or SFWALK_REQUIRE_TOOLS=1 that is a failure.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" || os.Getenv("SFWALK_REQUIRE_TOOLS") == "1" {
		t.Fatal(what)
	}
	skip(t, what)
}

// Cannot ends the test: this machine, its kernel or this release of a tool cannot run it,
// whatever is installed.
func Cannot(t testing.TB, why string) {
	t.Helper()
	skip(t, "not on this machine: "+why)
}

// CanRecord ends a test where the kernel lets this user sample no process (perf_event_open(2)).
func CanRecord(t testing.TB) {
	t.Helper()
	if b, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); err != nil || os.Geteuid() != 0 && strings.TrimSpace(string(b)) > "2" {
		Cannot(t, fmt.Sprintf("perf_event_open(2) is not allowed: %q, %v", b, err))
	}
}

// NeedGDB ends a test whose expected texts are from one major release of gdb, and of the printers
// that come with that.
func NeedGDB(t testing.TB, major int) {
	t.Helper()
	said, err := exec.Command(Tool(t, "gdb"), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(said), "\n")
	if m := gdbRelease.FindStringSubmatch(first); m == nil || m[1] != strconv.Itoa(major) {
		Cannot(t, fmt.Sprintf("the texts come from gdb %d, and this is %s", major, first))
	}
}

var gdbRelease = regexp.MustCompile(` (\d+)\.\S*$`)

// NeedSoak ends a test that takes too long for each day: make soak has SFWALK_SOAK set.
func NeedSoak(t testing.TB) {
	t.Helper()
	if os.Getenv("SFWALK_SOAK") == "" {
		skip(t, "it takes long: SFWALK_SOAK is not set (make soak)")
	}
}

// Share ends a test of variant i of many if it is the share of another day or of another machine. A
// day takes every fourth variant on a release of Debian with an even number, and as many others on
// one with an odd number. So CI, which runs on one of each, has all of them in two days, as has
// every other machine, which takes half of them a day. make soak takes all. i counts the variants
// of one test; each test begins elsewhere.
func Share(t testing.TB, i int) {
	t.Helper()
	if os.Getenv("SFWALK_SOAK") == "" && !inShare(t.Name(), i, release(), time.Now()) {
		skip(t, "another day, or another release of Debian, takes this variant, as does make soak (SFWALK_SOAK)")
	}
}

// inShare reports whether a machine with a release, -1 if it is none of Debian's, takes variant i
// of the test on a day.
func inShare(name string, i, release int, when time.Time) bool {
	h := fnv.New32a()
	name, _, _ = strings.Cut(name, "/")
	io.WriteString(h, name)
	day := int(when.Unix() / (24 * 60 * 60))
	variant := (i + int(h.Sum32()&3)) & 3
	if release < 0 {
		return variant&1 == day&1
	}
	return variant == (release+2*day)&3
}

// release returns the number of this machine's release: 12 of Debian 12, 24 of Ubuntu 24.04. It is
// -1 where there is none.
var release = sync.OnceValue(func() int {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "VERSION_ID="); ok {
			number, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(number), `"`), ".")
			if n, err := strconv.Atoi(number); err == nil && n >= 0 {
				return n
			}
		}
	}
	return -1
})

// NeedRoot ends a test that another user cannot run.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Cannot(t, "only root can do this")
	}
}

// NeedAMD64 skips the test on another processor: the target programs and the
// committed binaries are for linux/amd64.
func NeedAMD64(t testing.TB) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		Cannot(t, "the target programs are for amd64")
	}
}

// NeedFlag skips the test on a processor that lacks something, by the name that Linux has for it:
// avx, avx512bw.
func NeedFlag(t testing.TB, flag string) {
	t.Helper()
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || !slices.Contains(strings.Fields(string(info)), flag) {
		Cannot(t, "the processor has no "+flag)
	}
}

// skip is the only way to leave a test out; TestOneSkip checks that.
func skip(t testing.TB, why string) {
	t.Helper()
	t.Skip("SKIPPED, NOT TESTED: " + why)
}

func debianPackage(tool string) string {
	switch tool {
	case "cc":
		return "gcc"
	case "c++":
		return "g++"
	case "dwp":
		return "binutils-gold" // or, in older releases, binutils
	case "as", "ld", "readelf", "objdump", "strip", "objcopy", "nm":
		return "binutils"
	case "redis-check-rdb":
		return "redis-tools"
	case "nvim":
		return "neovim"
	case "perf":
		return "linux-perf"
	case "eu-stack":
		return "elfutils"
	case "debuginfod-find":
		return "debuginfod"
	case "wine", "wineserver":
		return "wine wine64"
	case "java", "jcmd":
		return "default-jdk-headless"
	case "erl", "erlc":
		return "erlang-base erlang-dev"
	case "lldb-server":
		return "lldb"
	case "qemu-aarch64", "qemu-s390x":
		return "qemu-user"
	}
	if strings.HasPrefix(tool, "x86_64-w64-mingw32-") {
		return "gcc-mingw-w64-x86-64-posix"
	}
	if name, ok := strings.CutSuffix(tool, "-linux-gnu-gcc"); ok && name != "x86_64" {
		return "gcc-" + name + "-linux-gnu libc6-dev-" + strings.Replace(name, "aarch64", "arm64", 1) + "-cross"
	} else if ok {
		return "gcc"
	}
	if name, ok := strings.CutSuffix(tool, "-linux-gnu-g++"); ok {
		return "g++-" + name + "-linux-gnu"
	}
	for _, of := range []string{"-linux-gnu-as", "-linux-gnu-ld", "-linux-gnu-objcopy", "-linux-gnu-objdump", "-linux-gnu-readelf", "-linux-gnu-dwp"} {
		if name, ok := strings.CutSuffix(tool, of); ok && name != "x86_64" {
			return "binutils-" + name + "-linux-gnu"
		} else if ok {
			return "binutils"
		}
	}
	return tool
}
