//go:build linux

package gdbtest

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
)

// Plain are the flags of an ordinary optimized build: no frame pointer, debug
// information, and SFrame as this machine's assembler writes it.
var Plain = []string{"-g", "-O2", "-fomit-frame-pointer", "-Wa,--gsframe"}

// Build compiles a program of testdata/progs and returns its path. src is a
// file name (chain.c, cxxwait.cc) or the folder of a Go program (gotarget);
// flags are the compiler's own (for Go: of "go build", and settings of its environment;
// without CGO_ENABLED=1 there is no C in it). The result is kept in
// the user's cache folder, named by everything that it was made from, so it
// must not be changed: copy it first.
func Build(t testing.TB, src string, flags ...string) string {
	t.Helper()
	if filepath.Ext(src) != "" {
		NeedAMD64(t)
	}
	path := Testdata(t, "progs", src)
	var cmd, env []string
	switch filepath.Ext(src) {
	case ".c":
		cmd = []string{Tool(t, "cc"), "-pthread"}
	case ".cc":
		cmd = []string{Tool(t, "c++"), "-std=c++17", "-pthread"}
	case "":
		cmd = []string{Tool(t, "go"), "build"}
		env = append(env, "CGO_ENABLED=0", "GOFLAGS=")
		cc, cflags := "cc", "CGO_CFLAGS=-g -O2"
		for ; len(flags) > 0 && goSetting.MatchString(flags[0]); flags = flags[1:] {
			if compiler, ok := strings.CutPrefix(flags[0], "CC="); ok {
				cc = compiler
			}
			if env = append(env, flags[0]); strings.HasPrefix(flags[0], "CGO_CFLAGS=") {
				cflags = flags[0]
			}
		}
		env = append(env, strings.Join(append([]string{cflags}, Undo(cc)...), " "))
	default:
		t.Fatalf("build %s: not a .c or .cc file or a folder", src)
	}
	cmd = append(cmd, flags...)
	if filepath.Ext(src) != "" {
		return Compile(t, path, append(cmd, "-ldl")...)
	}
	return build(t, path, env, cmd)
}

// Compile runs a compiler, cmd with its flags, on one source file and returns
// the path of what it makes, kept as Build keeps it.
func Compile(t testing.TB, src string, cmd ...string) string {
	t.Helper()
	return build(t, src, nil, cmd)
}

// goSetting is a setting of go build's environment.
var goSetting = regexp.MustCompile(`^[A-Z_0-9]+=`)

// build has cmd, with env added to the environment, make a program of the sources at
// path. Libraries in cmd follow the sources.
func build(t testing.TB, path string, env, cmd []string) string {
	t.Helper()
	cmd = slices.Concat(cmd[:1], Undo(cmd[0]), cmd[1:])
	out := filepath.Join(buildDir(t, path, env, cmd), strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	if _, err := os.Stat(out); err == nil {
		return out
	}
	// Another test may build the same: each to a name of its own, then rename.
	tmp, err := os.MkdirTemp(filepath.Dir(out), "build")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, filepath.Base(out))
	flags, libs := cmd[1:], []string(nil)
	for len(flags) > 0 && isLibrary(flags[len(flags)-1]) {
		flags, libs = flags[:len(flags)-1], append(libs, flags[len(flags)-1])
	}
	args := append(append(append([]string(nil), flags...), "-o", made, path), libs...)
	c := exec.Command(cmd[0], args...)
	c.Env, c.Dir = append(os.Environ(), env...), filepath.Dir(path)
	if _, msg, err := command(c); err != nil {
		if strings.Contains(msg, "gsframe") {
			Missing(t, "the assembler does not know --gsframe (binutils 2.40 or later)")
		}
		t.Fatalf("%s: %v\n%s", strings.Join(c.Args, " "), err, msg)
	}
	if err := os.Rename(made, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Undo returns flags for the C compiler cmd that undo the defaults of some distributions, such as
// Ubuntu, so that the code is the same everywhere. Flags behind them may turn a default on again.
// Undo returns nil if cmd is no C compiler.
func Undo(cmd string) []string {
	compiler := filepath.Base(cmd)
	if !strings.HasSuffix(compiler, "cc") && !strings.HasSuffix(compiler, "++") {
		return nil
	}
	flags := []string{"-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fno-stack-clash-protection"}
	if runtime.GOARCH == "amd64" && !strings.Contains(compiler, "linux-gnu") || strings.HasPrefix(compiler, "i686-") {
		flags = append(flags, "-fcf-protection=none")
	}
	return flags
}

func isLibrary(arg string) bool {
	return strings.HasPrefix(arg, "-l") && !strings.HasPrefix(arg, "-ldflags") || filepath.Ext(arg) == ".so"
}

var versions sync.Map // the version that each compiler prints

// buildDir returns the folder for what cmd makes of the program at path. Its
// name is a hash of the sources, the command with its environment, and the compiler's version.
func buildDir(t testing.TB, path string, env, cmd []string) string {
	t.Helper()
	versionFlag := "--version"
	if cmd[1] == "build" {
		versionFlag = "version"
	}
	version, ok := versions.Load(cmd[0])
	if !ok {
		said, msg, err := command(exec.Command(cmd[0], versionFlag))
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", cmd[0], versionFlag, err, msg)
		}
		version = said
		versions.Store(cmd[0], version)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", version, env, cmd)
	for _, dir := range []string{filepath.Dir(path), path} {
		files, _ := filepath.Glob(filepath.Join(dir, "*.*"))
		for _, file := range files {
			if file != path && filepath.Dir(file) != path && filepath.Ext(file) != ".h" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(h, "%q %q", filepath.Base(file), text)
		}
	}
	base, err := os.UserCacheDir()
	if err != nil { // no home folder: build anew in each test
		return t.TempDir()
	}
	dir := filepath.Join(base, "sfwalk-test", hex.EncodeToString(h.Sum(nil)[:12]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return t.TempDir()
	}
	return dir
}

// Functions returns the names of the functions in the symbol table of the ELF
// file at path that start with prefix, sorted.
func Functions(t testing.TB, path, prefix string) []string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatalf("symbols of %s: %v", path, err)
	}
	var names []string
	for _, s := range symbols {
		// A name with a dot is a part of a function that the compiler split off.
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF &&
			strings.HasPrefix(s.Name, prefix) && !strings.Contains(s.Name, ".") {
			names = append(names, s.Name)
		}
	}
	sort.Strings(names)
	return names
}
