package plugin

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
)

func TestPlugin(t *testing.T) {
	pid := commandtest.StartJIT(t)
	path := plugintest.Path(t, "jit")
	out, errOut, err := commandtest.Run("attach", pid, "--plugin", path, "--json", "--explain")
	if err != nil || errOut != "" {
		t.Fatalf("%v\n%s", err, errOut)
	}
	commandtest.CheckJIT(t, out)
	commandtest.InPage(t, "sfwalk attach", out)

	text, _, err := commandtest.Run("attach", pid, "--plugin", path)
	if err != nil || !regexp.MustCompile(`(?m)^#\d+ +0x[0-9a-f]{16} in jitted0 \(…\) at jitted.js:1$`).MatchString(text) {
		t.Errorf("%v\n%s", err, text)
	}
	// Plug-ins can also walk a saved stack, later.
	file := filepath.Join(t.TempDir(), "snapshot")
	if _, _, err := commandtest.Run("attach", pid, "--plugin", path, "--save", file, "--max-frames", "1"); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"open", "core"} {
		out, errOut, err := commandtest.Run(how, file, "--plugin", path, "--json")
		if err != nil || errOut != "" {
			t.Fatalf("%s: %v\n%s", how, err, errOut)
		}
		commandtest.CheckJIT(t, out)
	}
	out, errOut, err = commandtest.Run("remote", "localhost:"+commandtest.GDBServer(t, commandtest.PIDOf(t, pid)), "--plugin", path, "--json", "--resume")
	if err != nil {
		t.Fatalf("%v\n%s", err, errOut)
	}
	commandtest.CheckJIT(t, out)
}

// Plug-ins in a folder are asked, unless the user forbids it.
func TestPluginDirectory(t *testing.T) {
	pid := commandtest.StartJIT(t)
	dir := commandtest.PluginDir(t, "jit", "declines")
	sums := func(name string) {
		t.Helper()
		cmd := exec.Command(gdbtest.Tool(t, "sha256sum"), name)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "plugins.lock"), out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(asked bool, warning string, args ...string) {
		t.Helper()
		out, errOut, err := commandtest.Run(append([]string{"attach", pid, "--json"}, args...)...)
		if err != nil && !errors.Is(err, exit.ErrEarly) {
			t.Errorf("%q: %v", args, err)
			return
		}
		if asked {
			commandtest.CheckJIT(t, out)
		} else if strings.Contains(out, `"sniffer":"jit"`) {
			t.Errorf("%q: the plug-in was asked", args)
		}
		if warning == "" && errOut != "" || !strings.Contains(errOut, warning) {
			t.Errorf("%q: %s, want %q", args, errOut, warning)
		}
	}
	ask(true, "")
	ask(false, "", "--no-plugins")
	ask(true, "", "--no-plugins", "--plugin", filepath.Join(dir, "sniffer-jit"))
	ask(true, "", "--plugin", filepath.Join(dir, "sniffer-jit")) // the same file counts once
	ask(true, "its name, jit, is also the name of", "--plugin", plugintest.Path(t, "jit"))
	// --sniffers has only the sniffers that it names, and --plugin's.
	ask(false, "", "--sniffers", "sigtramp,dwarf")
	ask(true, "", "--sniffers", "sigtramp,jit,dwarf")
	ask(true, "", "--sniffers", "sigtramp,dwarf", "--plugin", filepath.Join(dir, "sniffer-jit"))

	sums("sniffer-jit")
	ask(true, "sniffer-declines: plugins.lock does not list it")
	out, _, err := commandtest.Run("plugin", "list")
	if err != nil || !strings.Contains(out, ", pinned\n") || !strings.Contains(out, "sniffer-declines: plugins.lock does not list it") {
		t.Errorf("%v\n%s", err, out)
	}
	sums("/dev/null")
	lock := filepath.Join(dir, "plugins.lock")
	data, err := os.ReadFile(lock)
	if err == nil {
		err = os.WriteFile(lock, []byte(strings.ReplaceAll(string(data), "/dev/null", "sniffer-jit")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ask(false, "the checksum is not the one that was pinned")
}

// A plug-in that goes wrong costs a warning; the stacks are those without it.
func TestPluginFaults(t *testing.T) {
	pid := commandtest.StartJIT(t)
	want, _, err := commandtest.Run("attach", pid, "--json")
	if err != nil {
		t.Fatal(err)
	}
	pause := regexp.MustCompile(`"(?:pause|held)_us":(\d+)`)
	want = pause.ReplaceAllString(want, "")
	for mode, warning := range map[string]string{
		"declines":              "",
		"hs-exit":               "no licence was found",
		"hs-version7":           "another version of the protocol",
		"describe-name-builtin": `it calls itself "sframe", as a sniffer does that there is already: it is left out`,
		"sniff-crash":           "hostile",
		"sniff-hang":            "does not answer in time",
		"sniff-slow":            "",
		"answer-cfa-inward":     "nonsense",
	} {
		t.Run(mode, func(t *testing.T) {
			out, errOut, err := commandtest.Run("attach", pid, "--json", "--plugin", plugintest.Path(t, mode))
			if err != nil {
				t.Fatal(err)
			}
			if got := inDocument.ReplaceAllString(pause.ReplaceAllString(out, ""), ""); got != want {
				t.Errorf("stacks:\n%s\nwant\n%s", got, want)
			}
			if warning == "" && errOut != "" || !strings.Contains(errOut, warning) || strings.Count(errOut, "\n") > 1 {
				t.Errorf("stderr %q, want one line with %q", errOut, warning)
			}
			// The process is not held while a plug-in thinks, which these do for at least 250 ms in
			// all.
			if us := commandtest.PIDOf(t, pause.FindStringSubmatch(out)[1]); strings.Contains("sniff-hang sniff-slow", mode) && us >= 250_000 {
				t.Errorf("the process was held for %d µs", us)
			}
		})
	}
}

func TestPluginUsage(t *testing.T) {
	path := plugintest.Path(t, "declines")
	script := filepath.Join(t.TempDir(), "sniffer-script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	zeros := strings.Repeat("0", 64)
	for _, tt := range []struct {
		args  string
		usage bool
		want  string
	}{
		{"attach 1 --plugin /nonexistent", true, "--plugin /nonexistent: no such file"},
		{"attach 1 --plugin /", true, "not a program"},
		{"attach 1 --plugin " + script, true, "chmod +x"},
		{"core x --plugin " + path + " --plugin-sha256 " + zeros + " --plugin-sha256 " + zeros, true, "--plugin-sha256 is there 2 times, --plugin 1 times"},
		{"open x --plugin-sha256 " + zeros, true, "--plugin-sha256 is there 1 times, --plugin 0 times"},
		{"remote x --plugin " + path + " --plugin-sha256 abc", true, "want 64 hexadecimal digits"},
		{"attach 1 --sniffers hostile", true, `unknown sniffer "hostile": there are sigtramp, sframe`},
		{"attach 1 --sniffers sframe,nobody --plugin " + path, true, `unknown sniffer "nobody": there are sigtramp, sframe, go, go-systemstack, go-asmcgocall, go-cgocallback, go-morestack, go-mcall, coreclr-hijack, luajit, fp, dwarf, ehabi, pdata, hotspot, zend, coreclr, beam, sbcl, yjit, pypy, v8, prologue, fp-guess, scan, hostile`},
		{"plugin", true, "which command? list, check or run"},
		{"plugin check", true, " is missing"},
		{"plugin check /nonexistent", true, "no such file"},
		{"plugin check " + path + " --snapshot /nonexistent", true, "--snapshot /nonexistent: no such file"},
		{"plugin run " + path, true, " is missing"},
		{"plugin run " + path + " 2147483647", false, "no such process"},
		{"plugin run " + path + " /nonexistent", false, "no such file"},
		{"plugin run " + plugintest.Path(t, "hs-exit") + " 1", false, "no licence was found"},
		{"plugin run " + plugintest.Path(t, "describe-name-builtin") + " 1", false, `it calls itself "sframe"`},
	} {
		_, _, err := commandtest.Run(strings.Fields(tt.args)...)
		var usage exit.Usage
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &usage) != tt.usage {
			t.Errorf("sfwalk %s: error %v (usage %v), want %q (usage %v)", tt.args, err, errors.As(err, &usage), tt.want, tt.usage)
		}
	}
	// A program with another checksum is not run.
	out, errOut, err := commandtest.Run("attach", commandtest.StartJIT(t), "--plugin", plugintest.Path(t, "jit"), "--plugin-sha256", zeros)
	if err != nil || !strings.Contains(errOut, "the checksum is not the one that was pinned") || !strings.Contains(out, "down (…) at ") {
		t.Errorf("%v\n%s\n%s", err, errOut, out)
	}
}

// Frames at one PC can have different names from a plug-in.
func TestPluginNames(t *testing.T) {
	program := gdbtest.Build(t, "recurse.c", "-g", "-O2", "-fno-omit-frame-pointer")
	p := gdbtest.Start(t, program, "40")
	pid := strconv.Itoa(p.PID)
	for _, mode := range []string{"interpreter", "switch"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "sniffer-"+mode)
		if err := plugintest.Copy(path); err != nil {
			t.Fatal(err)
		}
		got, errOut, err := commandtest.Run("attach", pid, "--plugin", path)
		if err != nil || errOut != "" {
			t.Fatalf("%v\n%s", err, errOut)
		}
		tag := map[string]string{"switch": " [stack switch]"}[mode]
		frames := 0
		for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
			want := fmt.Sprintf("in %s (…) at ", f.Function)
			if f.Function == "even" || f.Function == "odd" {
				want = fmt.Sprintf("#%-3d0x%016x in script%d (…) at s.x:%d%s\n", f.Level, f.PC, f.Level, 100+f.Level, tag)
				frames++
			} else if f.Function != "main" && f.Function != "leaf" {
				continue
			}
			if !strings.Contains(got, want) {
				t.Fatalf("%s: no line with %q in\n%s", mode, want, got)
			}
		}
		if frames != 40 {
			t.Errorf("gdb has %d frames, want 40", frames)
		}
	}
}

// inDocument are the warnings of a document.
var inDocument = regexp.MustCompile(`,"warnings":\[.*?\]`)
