package java_test

import (
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/java"
	"github.com/sfwalk/sfwalk/target/live"
)

// withVariables returns the frames of Java of all threads of a process, with their variables.
func withVariables(t *testing.T, pid int) (list []language.Frame) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	for _, th := range languagetest.All(t, tg, java.Decorator{}, func(s *language.Stack) { s.Locals = true }) {
		for _, f := range th.Frames() {
			list = append(list, f.Frame)
		}
	}
	return list
}

// runs are ways in which the methods of Values run: which code they have, and how objects lie in
// memory.
var runs = map[string]struct {
	flags string
	times string // how often the methods run
	kind  string // of their frames; "" for any
}{
	"interpreted":         {"-Xint", "0", "interpreted"},
	"compiled by C1":      {only + " -XX:TieredStopAtLevel=1", "1500", "compiled"},
	"compiled by C2":      {only + byC2 + " -XX:CompileCommand=dontinline,Values.*", "1500", "compiled"},
	"inlined":             {only + byC2 + " -XX:CompileCommand=dontinline,Values.say -XX:CompileCommand=dontinline,Values.end", "1500", ""},
	"taken apart again":   {only + byC2, "1500", ""}, // what never happened happens
	"wide references":     {only + " -XX:-UseCompressedOops -XX:TieredStopAtLevel=1", "1500", "compiled"},
	"wide classes":        {only + " -XX:-UseCompressedOops -XX:-UseCompressedClassPointers -XX:TieredStopAtLevel=1", "1500", "compiled"},
	"compact headers":     {"-XX:+UseCompactObjectHeaders", "0", ""}, // from 24 on
	"heap far up":         {"-XX:HeapBaseMinAddress=34g", "0", ""},
	"serial collector":    {"-XX:+UseSerialGC", "1500", ""},
	"parallel collector":  {"-XX:+UseParallelGC", "1500", ""},
	"ZGC, interpreted":    {"-XX:+UseZGC -Xint", "0", "interpreted"},
	"ZGC, compiled by C2": {only + byC2 + " -XX:+UseZGC -XX:CompileCommand=dontinline,Values.*", "1500", "compiled"},
	"Shenandoah":          {"-XX:+UseShenandoahGC", "1500", ""},
	"texts of 16 bits":    {"-XX:-CompactStrings", "0", ""},
}

const (
	only = "-Xbatch -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,Values.*"
	byC2 = " -XX:-TieredCompilation -XX:CompileThreshold=300"
)

// TestVariables holds arguments and variables of frames against what Java itself says of them.
func TestVariables(t *testing.T) {
	gdbtest.Later(t, "java")
	dir := compileJava(t, "Values.java")
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			args := slices.Concat([]string{"-XX:+UnlockExperimentalVMOptions"}, strings.Fields(run.flags), []string{"-XX:+IgnoreUnrecognizedVMOptions", "-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xmx256m", "-Xshare:auto",
				"-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-cp", dir, "Values", run.times})
			p := gdbtest.Start(t, gdbtest.Tool(t, "java"), args...)
			want := wanted(t, p)
			frames := withVariables(t, p.PID)
			got := map[string]language.Variable{}
			for function, args := range map[string]string{
				"Values.numbers": "flag b c s i l f d none",
				"Values.objects": "account latin boxed",
				"Values.method":  "this a n",
			} {
				i := slices.IndexFunc(frames, func(f language.Frame) bool { return f.Function == function })
				if i < 0 {
					t.Fatalf("there is no frame of %s", function)
				}
				if kind := frames[i].Kind; run.kind != "" && kind != run.kind {
					t.Errorf("the frame of %s is %s", function, kind)
				}
				var names []string
				for _, v := range frames[i].Args {
					names = append(names, v.Name)
				}
				if got := strings.Join(names, " "); got != args {
					t.Errorf("arguments of %s: %s", function, got)
				}
				for _, v := range slices.Concat(frames[i].Args, frames[i].Locals) {
					if _, twice := got[v.Name]; twice {
						t.Errorf("%s is there twice", v.Name)
					}
					got[v.Name] = v
				}
			}
			for name, text := range want {
				pattern := regexp.QuoteMeta(text)
				pattern = strings.ReplaceAll(pattern, `@\*`, `(@0x[0-9a-f]+)?`) // what was taken apart has no address
				pattern = strings.ReplaceAll(pattern, `\.\.\.\}`, `.*\}`)
				if !regexp.MustCompile("^" + pattern + "$").MatchString(got[name].Value) {
					t.Errorf("%s = %s, Java says %s", name, got[name].Value, text)
				}
				delete(got, name)
			}
			for _, v := range got {
				if v.Name != "v" {
					t.Errorf("there is %s = %s, too", v.Name, v.Value)
				}
			}
			if len(want) < 50 {
				t.Errorf("only %d variables were compared", len(want))
			}
		})
	}
}

// compileJava compiles a program of testdata into a folder.
func compileJava(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command(gdbtest.Tool(t, "javac"), "-g", "-encoding", "UTF-8", "-d", dir, "testdata/"+name).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return dir
}

// wanted reads what Values says of its variables.
func wanted(t *testing.T, p *gdbtest.Process) map[string]string {
	t.Helper()
	want := map[string]string{}
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			if strings.Contains(line, "not supported") {
				gdbtest.Cannot(t, strings.TrimSpace(line))
			}
			t.Fatalf("%v: %s", err, line)
		}
		if line == "end\n" {
			return want
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		want[name] = value
	}
}
