//go:build linux

package gdbtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// FullLimit is the time that gdb has for all variables of one moment. With the printers of Rust, it
// may take hours for optimized code.
const FullLimit = 10 * time.Minute

// A FullOption changes what gdb prints.
type FullOption struct {
	early, settings []string
	debugger        string
}

// WithScripts has gdb load the scripts that come with libraries, and pretty-printers with them.
// Without, all is raw. Further folders hold such scripts, too.
func WithScripts(folders ...string) FullOption {
	early := []string{"set auto-load on"}
	for _, folder := range folders {
		early = append(early, "add-auto-load-safe-path "+folder, "directory "+folder)
	}
	return FullOption{early: early}
}

// OfGuest has gdb-multiarch read the core file of a guest.
func OfGuest() FullOption {
	return FullOption{debugger: "gdb-multiarch", settings: []string{"set osabi GNU/Linux"}}
}

// WithSettings has gdb begin with these commands.
func WithSettings(commands ...string) FullOption {
	return FullOption{settings: commands}
}

// Full attaches gdb to a process that stands still and returns the text of all its variables. If
// core is not empty, gdb writes a core file there, too. A test for which gdb takes longer than
// [FullLimit] is skipped.
func Full(t testing.TB, pid int, core string, options ...FullOption) string {
	t.Helper()
	commands := []string{"-p", strconv.Itoa(pid), "-ex", "thread apply all bt full"}
	if core != "" {
		commands = append(commands, "-ex", "generate-core-file "+core)
	}
	text := runFull(t, options, commands...)
	if core != "" {
		if _, err := os.Stat(core); err != nil {
			t.Fatalf("gdb has written no core: %v\n%s", err, text)
		}
	}
	return text
}

// FullCore returns the text of all variables in a core file.
func FullCore(t testing.TB, program, core string, options ...FullOption) string {
	t.Helper()
	return runFull(t, options, program, core, "-ex", "thread apply all bt full")
}

// FullAt runs the program until at, by its first three fields, and returns the text of all
// variables there. gdb writes a core file of that moment. There is no text if the program has ended
// before.
func FullAt(t testing.TB, program string, at CrashPoint, core string, options ...FullOption) string {
	t.Helper()
	commands := []string{"-ex", "break *" + at.Function, "-ex", "ignore 1 " + strconv.Itoa(at.Calls), "-ex", "run </dev/null >/dev/null 2>&1", "-ex", "delete"}
	if at.Steps > 0 {
		commands = append(commands, "-ex", "stepi "+strconv.Itoa(at.Steps))
	}
	commands = append(commands, "-ex", "thread apply all bt full", "-ex", "generate-core-file "+core, "-ex", "kill", "--args", program)
	text := runFull(t, options, append(commands, strings.Fields(at.Argument)...)...)
	if _, err := os.Stat(core); err != nil {
		return ""
	}
	return text
}

// runFull runs gdb as Full and FullCore need it: the text does not depend on the user's settings.
func runFull(t testing.TB, options []FullOption, args ...string) string {
	t.Helper()
	early := []string{"set auto-load off"}
	var settings []string
	debugger := "gdb"
	for _, o := range options {
		if o.debugger != "" {
			debugger = o.debugger
		}
		if o.early != nil {
			early = o.early
		}
		settings = append(settings, o.settings...)
	}
	early = append(early, "set debuginfod enabled off", "set host-charset UTF-8", "set target-charset UTF-8",
		"set backtrace past-main on", "set backtrace past-entry on", "set backtrace limit unlimited")
	early = append(early, settings...)
	argv := []string{"-nx", "-batch"}
	for _, command := range early {
		argv = append(argv, "-iex", command)
	}
	ctx, cancel := context.WithTimeout(context.Background(), FullLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, Tool(t, debugger), append(argv, args...)...)
	cmd.WaitDelay = time.Second // what gdb has started may keep its output open
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	for _, command := range early {
		if folder, ok := strings.CutPrefix(command, "directory "); ok {
			cmd.Env = append(cmd.Env, "PYTHONPATH="+folder)
		}
	}
	stdout, stderr, err := command(cmd)
	if ctx.Err() != nil {
		Cannot(t, fmt.Sprintf("gdb takes more than %v for all variables", FullLimit))
	}
	if strings.Contains(stdout+stderr, "Recursive internal problem") || strings.Contains(stdout+stderr, "internal-error: ") {
		Cannot(t, "this release of gdb fails of itself")
	}
	if stdout == "" { // it fails, too, if only the last command has failed
		t.Fatalf("gdb %q: %v\n%s", args, err, stderr)
	}
	return stdout
}
