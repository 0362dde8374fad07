//go:build linux

package gdbtest

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// gdb before release 14 cannot write a thread's vector registers where the processor has AMX: the
// kernel takes them together with all that follows them, or not at all, and gdb knows no more than
// AVX-512. Then it calls no functions, and gdbserver answers OK to what it does not do. A small
// library that is loaded into them adds the rest.

// Writing returns settings of the environment with which a debugger of this machine, "gdb" or
// "gdbserver", writes registers: none if it does without. [StartScript] has them.
func Writing(t testing.TB, debugger string) (settings []string) {
	t.Helper()
	settings, _ = writing(t, debugger)
	return settings
}

// CannotWrite says why a debugger of this machine cannot write registers, with the settings that
// Writing returns; "" if it can. A test that needs that has another oracle then, and tells it
// ([NoOracle]).
func CannotWrite(t testing.TB, debugger string) (why string) {
	t.Helper()
	_, why = writing(t, debugger)
	return why
}

func writing(t testing.TB, debugger string) (settings []string, why string) {
	t.Helper()
	Tool(t, debugger)
	if runtime.GOARCH != "amd64" {
		return nil, ""
	}
	if why = cannotWrite(t, debugger); why == "" {
		return nil, ""
	}
	settings = preload(t, "whole.c")
	if cannotWrite(t, debugger, settings...) != "" {
		return nil, why
	}
	return settings, ""
}

// NotWritten reports whether gdb has given this error because it cannot write registers.
func NotWritten(gdbError string) bool {
	return strings.Contains(gdbError, "Couldn't write") || strings.Contains(gdbError, "may-call-functions is off")
}

// NoOracle tells that n of all cases of a test were compared with no other debugger, why, and what
// they were compared with.
func NoOracle(t testing.TB, n, all int, why, instead string) {
	t.Helper()
	t.Logf("WITHOUT AN ORACLE: %d of %d cases, compared with %s: %s", n, all, instead, why)
}

// RefuseVectors returns settings of an environment in which gdb before release 14 cannot write
// vector registers, as on a processor with AMX.
func RefuseVectors(t testing.TB) (settings []string) {
	t.Helper()
	NeedAMD64(t)
	settings = preload(t, "refuse.c")
	if cannotWrite(t, "gdbserver", settings...) == "" {
		Cannot(t, "this release of gdbserver writes all that a processor has")
	}
	return settings
}

var (
	writesLock sync.Mutex
	writes     = map[string]string{}
)

// cannotWrite asks once for each debugger and its settings: a vector register is written, an
// instruction of ld.so that leaves it alone is executed, and the register is read.
func cannotWrite(t testing.TB, debugger string, settings ...string) (why string) {
	t.Helper()
	key := fmt.Sprint(debugger, settings)
	writesLock.Lock()
	defer writesLock.Unlock()
	if why, ok := writes[key]; ok {
		return why
	}
	program := Tool(t, "true")
	begin := "starti"
	if debugger == "gdbserver" {
		begin = "target remote | env " + strings.Join(settings, " ") + " gdbserver --once - " + program
		settings = nil
	}
	const value = "0x5a0ff1ce"
	args := []string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off", program, "-ex", begin,
		"-ex", "set var $xmm1.v4_int32[0] = " + value, "-ex", "stepi", "-ex", "p/x $xmm1.v4_int32[0]", "-ex", "kill"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Tool(t, "gdb"), args...)
	cmd.Env = append(append(os.Environ(), "SHELL=/bin/sh"), settings...)
	said, err := cmd.CombinedOutput()
	if strings.Contains(string(said), "= "+value) {
		writes[key] = ""
		return ""
	}
	reason := fmt.Sprintf("%v\n%s", err, said)
	for line := range strings.Lines(string(said)) {
		if NotWritten(line) || strings.Contains(line, "store_inferior_registers") {
			reason = strings.TrimSpace(line)
			break
		}
	}
	writes[key] = fmt.Sprintf("%s cannot write registers here: %s", debugger, reason)
	return writes[key]
}

//go:embed testdata/ptrace.h testdata/refuse.c testdata/whole.c
var libraries embed.FS

// preload returns the setting that loads a library of testdata into a program.
func preload(t testing.TB, source string) (settings []string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"ptrace.h", source} {
		text, err := libraries.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"LD_PRELOAD=" + Compile(t, filepath.Join(dir, source), Tool(t, "cc"), "-O1", "-shared", "-fPIC", "-ldl")}
}
