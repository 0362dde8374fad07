package stacks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// javaFrame is a frame of Java in the log that a virtual machine writes when it dies: "j" is of an
// interpreted one, "J" of a compiled one.
var javaFrame = regexp.MustCompile(`^[jJ]  ?(?:\d+ .* )?([\w.$]+)\(`)

// TestJavaCrash holds the core of a virtual machine that has died against what that one has written
// of the thread.
func TestJavaCrash(t *testing.T) {
	gdbtest.Later(t, "java")
	javac, java := gdbtest.Tool(t, "javac"), gdbtest.Tool(t, "java")
	src := gdbtest.Testdata(t, "..", "internal", "command", "stacks", "testdata", "programs", "Crash.java")
	dir := t.TempDir()
	if out, err := exec.Command(javac, "-g", "-d", dir, src).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	log := filepath.Join(dir, "log")
	core := coreOfCrash(t, java, "-Xint", "-Xmx32m", "-XX:+UseSerialGC", "-XX:ErrorFile="+log, "-cp", dir, "Crash")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	_, native, _ := strings.Cut(string(text), "Native frames:")
	native, _, _ = strings.Cut(native, "\n\n")
	native, _, _ = strings.Cut(native, "Java frames:") // which has the same again
	var want []string
	for line := range strings.Lines(native) {
		if m := javaFrame.FindStringSubmatch(line); m != nil {
			want = append(want, m[1])
		}
	}
	out, _, err := commandtest.Run("core", core, "--json", "--locals")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Threads []struct {
			Frames []struct {
				Type, Function string
				Args           []struct{ Name, Value string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	arguments := ""
	for _, f := range doc.Threads[0].Frames {
		if f.Type != report.Language {
			continue
		}
		got = append(got, f.Function)
		if f.Function == "Crash.write" {
			for _, v := range f.Args {
				arguments += v.Name + "=" + v.Value + " "
			}
		}
	}
	if !slices.Equal(got, want) || len(want) < 4 {
		t.Errorf("frames: %q, the virtual machine has %q", got, want)
	}
	if !strings.HasPrefix(arguments, "memory=sun.misc.Unsafe@0x") || !strings.HasSuffix(arguments, ` address=0 why="as \"asked\"" `) {
		t.Errorf("arguments: %s", arguments)
	}
}
