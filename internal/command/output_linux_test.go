package command

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// written says what a file is, by what reads such files.
func written(b []byte) string {
	if r, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
		if unpacked, err := io.ReadAll(r); err == nil && len(unpacked) > 0 {
			return "gzip"
		}
	}
	var element struct{ XMLName xml.Name }
	if xml.Unmarshal(b, &element) == nil && element.XMLName.Local == "svg" {
		return "svg"
	}
	var doc map[string]any
	if json.Unmarshal(b, &doc) == nil {
		for _, key := range []string{"$schema", "meta", "threads"} {
			if doc[key] != nil {
				return key
			}
		}
	}
	switch {
	case bytes.HasPrefix(b, []byte("MDMP")):
		return "minidump"
	case bytes.HasPrefix(b, []byte("\x7fELF")):
		return "ELF"
	case bytes.HasPrefix(b, []byte("Thread ")), bytes.HasPrefix(b, []byte("Process ")), bytes.HasPrefix(b, []byte("Round ")):
		return "text"
	case bytes.HasSuffix(bytes.TrimSpace(b), []byte(" 1")) && bytes.Contains(b, []byte(";")):
		return "folded"
	}
	return "?"
}

// Each command that prints stacks takes the format from the end of the file's name, unless a flag
// says another one.
func TestOutputNames(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	pid := strconv.Itoa(p.PID)
	t.Chdir(t.TempDir())
	commandtest.GCore(t, p.PID, "c")
	for _, args := range [][]string{{"attach", pid, "--save", "s"}, {"attach", pid, "--save", "d.dmp"}} {
		if _, _, err := command(args...); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile("d.dmp"); err != nil || written(b) != "minidump" {
		t.Fatalf("d.dmp is %s, %v", written(b), err)
	}
	for _, tt := range []struct{ flags, want string }{
		{"-o x.svg", "svg"}, {"-o X.SVG", "svg"}, {"-o x.pb.gz", "gzip"}, {"-o x.pprof", "gzip"}, {"-o x.folded", "folded"}, {"-o x.json", "threads"},
		{"-o x.speedscope", "$schema"}, {"-o x.speedscope.json", "$schema"}, {"-o x.firefox.json", "meta"}, {"-o x.txt", "text"}, {"-o x.log", "text"}, {"-o x", "text"},
		// A flag wins.
		{"-o a.svg --format folded", "folded"}, {"-o a.json --format svg", "svg"}, {"-o a.svg --json", "threads"}, {"-o a.svg --format text", "text"}, {"-o a --format json", "threads"},
		// Other names of formats.
		{"-o b --format svg", "svg"}, {"-o b --format pb.gz", "gzip"}, {"-o b --format raw", "folded"}, {"-o b --format SpeedScope", "$schema"}, {"-o b --format gecko", "meta"},
		// A picture has equal stacks once, and is a tree, without being told.
		{"-o m.svg --merge", "svg"}, {"-o m.svg --tree", "svg"}, {"-o m.json --merge", "threads"}, {"-o m.txt --merge", "text"},
	} {
		for _, line := range []string{"attach " + pid, "core c", "open s", "minidump d.dmp"} {
			name := strings.Fields(tt.flags)[1]
			os.Remove(name)
			out, stderr, err := command(append(strings.Fields(line), strings.Fields(tt.flags)...)...)
			b, wrong := os.ReadFile(name)
			if err != nil && !errors.Is(err, exit.ErrEarly) || out != "" || wrong != nil || written(b) != tt.want {
				t.Errorf("%s %s: %v, %v: %s, want %s\n%s%s", line, tt.flags, err, wrong, written(b), tt.want, out, stderr)
			}
		}
	}
	for _, tt := range []struct{ line, name, want string }{
		{"attach " + pid + " --every 0.01 --count 2 -o e.svg", "e.svg", "svg"},
		{"attach " + pid + " " + pid + " -o t.svg", "t.svg", "svg"},
		{"core c --save c.dmp", "c.dmp", "minidump"},
		{"attach " + pid + " --save c2.dmp --format core", "c2.dmp", "ELF"},
		{"attach " + pid + " --save s2 -o s2.svg", "s2.svg", "svg"},
		{"minidump d.dmp --info -o i.json", "i.json", "threads"},
	} {
		_, stderr, err := command(strings.Fields(tt.line)...)
		b, wrong := os.ReadFile(tt.name)
		if err != nil || wrong != nil || written(b) != tt.want && tt.name != "i.json" {
			t.Errorf("%s: %v, %v: %s, want %s\n%s", tt.line, err, wrong, written(b), tt.want, stderr)
		}
	}
	for _, line := range []string{"attach " + pid, "core c", "open s", "minidump d.dmp"} {
		out, _, err := command(append(strings.Fields(line), "-o", "-")...)
		if err != nil && !errors.Is(err, exit.ErrEarly) || written([]byte(out)) != "text" {
			t.Errorf("%s -o -: %v\n%s", line, err, out)
		}
	}
	// The file that --save writes to standard output stands there alone.
	for line, want := range map[string]string{"attach " + pid + " --save -": "ELF", "attach " + pid + " --save - --format minidump": "minidump", "core c --save - --format minidump -o stacks": "minidump"} {
		out, _, err := command(strings.Fields(line)...)
		if err != nil || written([]byte(out)) != want {
			t.Errorf("%s: %v, %.20q", line, err, out)
		}
	}
	if b, err := os.ReadFile("stacks"); err != nil || written(b) != "text" {
		t.Errorf("%v\n%s", err, b)
	}
	_, _, err := command("attach", pid, "--format", "png")
	if usage := (exit.Usage{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "flamegraph (or svg)") {
		t.Error(err)
	}
}

// No command makes a folder of -o and --save, and each says before its work that it cannot write.
func TestOutputFolders(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	pid := strconv.Itoa(p.PID)
	exe, err := filepath.Abs("../../testdata/bin/mix-v3")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("bad", []byte("no core file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"attach 999999999 -o", "attach 999999999 --save", "record 999999999 -f svg -o", "record 999999999 --wall -f svg -o", "attach 999999999 --merge -o", "attach 999999999 --json -o",
		"core bad -o", "core bad --format minidump --save", "open bad -o", "minidump bad -o", "remote localhost:1 -o", "symbols dump bad -o",
	} {
		for to, want := range map[string]string{"none/x": "there is no folder none: make it first", "folder": "it is a folder: name a file in it", "/proc/self/x": "the folder /proc/self cannot be written to"} {
			out, stderr, err := command(append(strings.Fields(line), to)...)
			if err == nil || !strings.Contains(err.Error(), want) || out+stderr != "" {
				t.Errorf("%s %s: %v, want %s\n%s%s", line, to, err, want, out, stderr)
			}
		}
	}
	for _, line := range []string{"sframe gen " + exe + " -o none/x", "perf bad -o none/x.svg"} {
		if _, _, err := command(strings.Fields(line)...); err == nil {
			t.Errorf("%s: no error", line)
		}
	}
	// A full disk.
	for _, line := range []string{"attach " + pid + " -o", "attach " + pid + " --json -o", "attach " + pid + " --merge -o", "attach " + pid + " --format svg -o", "symbols dump " + exe + " -o", "sframe gen " + exe + " -o"} {
		_, _, err := command(append(strings.Fields(line), "/dev/full")...)
		if err == nil || !strings.Contains(err.Error(), "--output /dev/full: no space left on device") {
			t.Errorf("%s /dev/full: %v", line, err)
		}
	}
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode().Type()&os.ModeCharDevice == 0 {
		t.Errorf("/dev/full is %v, %v", info.Mode(), err)
	}
	if list, err := os.ReadDir("."); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}
