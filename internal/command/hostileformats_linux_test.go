package command

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	pprofile "github.com/google/pprof/profile"
	"github.com/spf13/pflag"

	"github.com/sfwalk/sfwalk/internal/command/profile"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
)

// waysOf are the ways in which a command may write: by itself, and by each of its flags that is a
// switch, in each of its formats.
func waysOf(t *testing.T, formats []string, path ...string) (ways [][]string) {
	t.Helper()
	root := commandtest.New(nil)
	cmd, rest, err := root.Find(path)
	if err != nil || len(rest) > 0 {
		t.Fatalf("%q: %v, %q", path, err, rest)
	}
	ways = [][]string{nil}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "format" && f.Value.Type() == "string":
			for _, format := range formats {
				ways = append(ways, []string{"--format", format})
			}
		case f.Value.Type() == "bool":
			ways = append(ways, []string{"--" + f.Name})
		}
	})
	return ways
}

// TestHostileFormats: no format of any command, and no flag, lets a name's control characters
// through. A format that is added later is among them.
func TestHostileFormats(t *testing.T) {
	program := hostileProgram(t)
	p := gdbtest.Start(t, program, "t\x1b[5m\n\u009b\xffX\U000e0041")
	pid, full := strconv.Itoa(p.PID), filepath.Join(commandtest.Install(t, "sfwalk-full"), "sfwalk-full")
	dir := t.TempDir()
	core, dump, symbols := filepath.Join(dir, "core"), filepath.Join(dir, "x.dmp"), filepath.Join(dir, "x.sym")
	commandtest.RunInstalled(t, full, "attach", pid, "--save", core)
	commandtest.RunInstalled(t, full, "attach", pid, "--save", dump, "--format", "minidump")
	commandtest.RunInstalled(t, full, "symbols", "dump", program, "-o", symbols)
	shown := 0
	for _, c := range []struct {
		path    []string
		args    []string
		formats []string
	}{
		{[]string{"attach"}, []string{pid}, report.StackFormats},
		{[]string{"core"}, []string{core}, report.StackFormats},
		{[]string{"open"}, []string{core}, report.StackFormats},
		{[]string{"minidump"}, []string{dump}, append([]string{"sfwalk", "breakpad"}, report.StackFormats...)},
		{[]string{"record"}, []string{pid, "--wall", "-d", "100ms", "-o", "-", "--format", "json"}, profile.RecordFormats},
		{[]string{"symbols", "dump"}, []string{program}, nil},
		{[]string{"symbols", "check"}, []string{symbols, program}, nil},
		{[]string{"sframe", "dump"}, []string{program}, nil},
		{[]string{"sframe", "verify"}, []string{program}, nil},
	} {
		if c.path[0] == "record" {
			commandtest.CanRecord(t)
		}
		for _, way := range waysOf(t, c.formats, c.path...) {
			args := slices.Concat(c.path, c.args, way)
			out, said, _ := commandtest.RunInstalled(t, full, args...)
			if i := slices.Index(args, "pprof"); i > 0 {
				if _, err := pprofile.ParseData([]byte(out)); err != nil {
					t.Errorf("%q: %v", args, err)
				}
				continue
			}
			if strings.Contains(out, "u009b31m") {
				shown++
			}
			for _, text := range []string{out, said} {
				if !printable.Is([]byte(text)) {
					t.Errorf("%q: %q", args, text)
				}
			}
			last := args[len(args)-1]
			asJSON := last == "--json" || last == "json"
			if f := picture.FormatNamed(last); f != nil {
				asJSON = asJSON || slices.ContainsFunc(f.Suffixes, func(suffix string) bool { return strings.HasSuffix(suffix, ".json") })
			}
			if asJSON && out != "" && !json.Valid([]byte(out)) {
				t.Errorf("%q: no JSON: %q", args, out)
			}
		}
	}
	if shown < 40 {
		t.Errorf("the names are in %d outputs", shown)
	}
}
