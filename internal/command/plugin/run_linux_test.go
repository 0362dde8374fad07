package plugin

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
)

func TestPluginList(t *testing.T) {
	out, _, err := commandtest.Run("plugin", "list")
	if err != nil || !strings.Contains(out, "no plug-ins named sniffer-* or decorator-* in ") {
		t.Errorf("%v\n%s", err, out)
	}
	dir := commandtest.PluginDir(t, "jit", "hs-exit")
	path := plugintest.Path(t, "declines")
	out, errOut, err := commandtest.Run("plugin", "list", "--json", "--plugin", path)
	if err != nil || errOut != "" {
		t.Fatalf("%v\n%s", err, errOut)
	}
	commandtest.InPage(t, "sfwalk plugin list", out)
	sum, err := exec.Command(gdbtest.Tool(t, "sha256sum"), path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got pluginList
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Plugins) != 2 || len(got.LeftOut) != 1 || !strings.Contains(got.LeftOut[0], filepath.Join(dir, "sniffer-hs-exit")) {
		t.Fatalf("%+v", got)
	}
	first, second := got.Plugins[0], got.Plugins[1]
	if first.Name != "hostile" || first.Path != path || !strings.HasPrefix(string(sum), first.SHA256+" ") || first.Before != "sigtramp" || first.Pinned {
		t.Errorf("%+v", first)
	}
	if second.Name != "jit" || second.Version != "1.0" || second.Protocol != 1 || second.Before != "prologue" || second.Path != filepath.Join(dir, "sniffer-jit") {
		t.Errorf("%+v", second)
	}
	if order := strings.Join(got.Order, " "); order != "hostile sigtramp sframe go go-systemstack go-asmcgocall go-cgocallback go-morestack go-mcall coreclr-hijack luajit fp dwarf hotspot zend coreclr beam sbcl yjit pypy v8 jit prologue fp-guess" {
		t.Errorf("order %s", order)
	}
	if out, _, err = commandtest.Run("plugin", "list"); err != nil || !strings.Contains(out, "jit 1.0\n    "+dir) || !strings.Contains(out, "\nleft out:\n    plug-in "+dir) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestPluginRun: the first frame of the JIT's is asked about, and told of all others.
func TestPluginRun(t *testing.T) {
	pid := commandtest.StartJIT(t)
	out, errOut, err := commandtest.Run("plugin", "run", plugintest.Path(t, "jit"), pid, "--json")
	if err != nil || errOut != "" {
		t.Fatalf("%v\n%s", err, errOut)
	}
	commandtest.InPage(t, "sfwalk plugin run", out)
	var got struct {
		PID     int
		Threads []struct {
			TID       int
			Frames    int
			Questions []struct {
				Level  int
				Claims struct{ Lo, Hi, Row string }
				Rows   []any
			}
		}
		Stats hosts.Stats
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Threads) != 1 || strconv.Itoa(got.PID) != pid || got.Stats.Asked != 1 || len(got.Threads[0].Questions) != 1 {
		t.Fatalf("%s", out)
	}
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	// How many frames of the C library are inside it differs by release.
	inner := slices.DeleteFunc(gdbtest.Backtrace(t, number, gdbtest.WithLimit(10))[0].Frames, func(f gdbtest.Frame) bool { return !f.Physical() })
	level := slices.IndexFunc(inner, func(f gdbtest.Frame) bool { return f.Module == "" && f.Function == "" })
	if q := got.Threads[0].Questions[0]; q.Level != level || q.Claims.Row != "CFA=rsp+48 RA=[CFA-8] FP=same rbx=[CFA-16]" || len(q.Rows) != 2 {
		t.Errorf("%+v, want level %d", q, level)
	}
	out, _, err = commandtest.Run("plugin", "run", plugintest.Path(t, "jit-plain"), pid)
	if err != nil || strings.Count(out, "      claims [0x") != 3 || !strings.Contains(out, "3 questions: 3 claimed, 0 declined, 0 without answer") {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, err = commandtest.Run("plugin", "run", plugintest.Path(t, "sniff-hang"), pid)
	if err == nil || !strings.Contains(err.Error(), "does not answer in time") || !strings.Contains(out, "1 without answer") {
		t.Errorf("%v\n%s", err, out)
	}
	// Nonsense is shown as it came.
	out, _, err = commandtest.Run("plugin", "run", plugintest.Path(t, "answer-backward"), pid)
	m := regexp.MustCompile(`\n#0 +0x([0-9a-f]+) .*\n +claims \[0x([0-9a-f]+), 0x([0-9a-f]+)\): CFA=`).FindStringSubmatch(out)
	if err == nil || !strings.Contains(err.Error(), "nonsense") || m == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var at [3]uint64
	for i := range at {
		at[i], _ = strconv.ParseUint(m[i+1], 16, 64)
	}
	if at[1] != at[0]+8 || at[2] != at[0]-8 {
		t.Errorf("claims [%#x, %#x) at %#x, want 8 before and behind that", at[1], at[2], at[0])
	}
	// What a plug-in writes, and what it sees of the environment.
	t.Setenv("SECRET_TOKEN", "s3cret")
	path := filepath.Join(t.TempDir(), "sniffer-environ")
	if err := plugintest.Copy(path); err != nil {
		t.Fatal(err)
	}
	_, errOut, err = commandtest.Run("plugin", "run", path, pid)
	if err != nil || !strings.Contains(errOut, "sniffer-environ: environ PATH=") || strings.Contains(errOut, "s3cret") {
		t.Errorf("%v\n%s", err, errOut)
	}
}

// What a plug-in writes to its standard error steers no terminal, and is not taken for what sfwalk
// says.
func TestPluginEscapes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sniffer-escapes")
	if err := plugintest.Copy(path); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(commandtest.Install(t, "sfwalk-full"), "sfwalk-full")
	for _, args := range [][]string{{"plugin", "run", path, commandtest.StartJIT(t)}, {"plugin", "check", path}} {
		out, errOut, _ := commandtest.RunInstalled(t, bin, args...)
		if text := out + errOut; strings.ContainsAny(text, "\x1b\u009b\r") || strings.Contains("\n"+text, "\nsfwalk: warning: fake") {
			t.Errorf("%q: %q", args, text)
		}
		if want := "sniffer-escapes: \\x1b[2J\\u009b31m\nsniffer-escapes: sfwalk: warning: fake\\xff\n"; args[1] == "run" && errOut != want {
			t.Errorf("%q, want %q", errOut, want)
		}
	}
}

func TestPluginCheck(t *testing.T) {
	out, _, err := commandtest.Run("plugin", "check", plugintest.Path(t, "jit"), "--json")
	if err != nil {
		t.Errorf("error %v", err)
	}
	commandtest.InPage(t, "sfwalk plugin check", out)
	out, _, err = commandtest.Run("plugin", "check", plugintest.Path(t, "hs-exit"))
	var status exit.Status
	if !errors.As(err, &status) || status.Code != 1 || !strings.Contains(out, "FAIL") {
		t.Errorf("error %v\n%s", err, out)
	}
}

// TestPluginRunDecorator: the frames of a decorator's language are printed with the levels of the
// physical frames where they stand, and why there are none, or not all.
func TestPluginRunDecorator(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program, err := os.ReadFile(gdbtest.Compile(t, gdbtest.Testdata(t, "..", "internal", "bench", "programs", "jit.c"), gdbtest.Tool(t, "cc"), "-O2", "-g"))
	exe := filepath.Join(t.TempDir(), "jit-renamed") // by which toy knows it
	if err := errors.Join(err, os.WriteFile(exe, program, 0o700)); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(gdbtest.Start(t, exe, "3", "3").PID)
	out, errOut, err := commandtest.Run("plugin", "run", plugintest.Path(t, "toy"), pid, "--json")
	if err != nil || errOut != "" {
		t.Fatalf("%v\n%s", err, errOut)
	}
	commandtest.InPage(t, "sfwalk plugin run", out)
	var got struct {
		Threads []struct {
			Frames     int
			Decoration struct {
				Reads    int
				Frames   []runFrame
				Warnings []string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	d := got.Threads[0].Decoration
	if len(d.Frames) == 0 || d.Reads == 0 || len(d.Warnings) > 0 {
		t.Fatalf("%s", out)
	}
	for i, f := range d.Frames { // as plugintest's toy has them
		name, line := "toy.inner", f.Level+101
		if i%2 == 1 {
			name, line = "toy.outer", f.Level+1
		}
		if want := (runFrame{f.Level, true, name + strconv.Itoa(f.Level), "demo.toy", line}); f != want || f.Level >= got.Threads[0].Frames {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	for mode, want := range map[string]string{
		"toy": `\n  \d+ frames of toy: .*, \d+ reads?\n#\d+ +toy\.inner\d+ at demo\.toy:\d+, in place of the frame\n`, "toy-fails": `a record is broken\n`, "toy-none": `\n0 questions`,
	} {
		if out, _, err := commandtest.Run("plugin", "run", plugintest.Path(t, mode), pid); err != nil || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s: %v\n%s", mode, err, out)
		}
	}
	if _, _, err := commandtest.Run("plugin", "run", plugintest.Path(t, "toy-unknown"), pid); err == nil || !strings.Contains(err.Error(), "the release of toy is not known") {
		t.Errorf("%v", err)
	}
	if _, _, err := commandtest.Run("plugin", "run", plugintest.Path(t, "toy-crash"), pid); err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("%v", err)
	}
}
