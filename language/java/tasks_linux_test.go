package java_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/java"
	"github.com/sfwalk/sfwalk/target/live"
)

// machines returns the bin folders of the JDKs that have virtual threads.
func machines(t *testing.T) (list []string) {
	t.Helper()
	gdbtest.Later(t, "java")
	names := append(gdbtest.Glob(t, "/usr/lib/jvm/*/bin/jcmd"), gdbtest.Tool(t, "jcmd"))
	seen := map[string]bool{}
	for _, name := range names {
		name, err := filepath.EvalSymlinks(name)
		if err != nil || seen[name] {
			continue
		}
		seen[name] = true
		bin := filepath.Dir(name)
		about, _ := os.ReadFile(filepath.Join(bin, "..", "release"))
		m := regexp.MustCompile(`JAVA_VERSION="(\d+)`).FindSubmatch(about)
		if m == nil {
			continue
		}
		if release, err := strconv.Atoi(string(m[1])); err == nil && release >= 21 {
			list = append(list, bin)
		}
	}
	if len(list) == 0 {
		gdbtest.Cannot(t, "there is no JDK of release 21 or later")
	}
	return list
}

// virtualTasks lists the virtual threads of a process.
func virtualTasks(t *testing.T, pid int) []language.Task {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	runtimes := languagetest.Find(t, tg, java.Decorator{})
	if len(runtimes) != 1 {
		t.Fatalf("%d virtual machines", len(runtimes))
	}
	list, err := runtimes[0].Runtime.(language.Tasker).Tasks(tg.Now())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// dumped is a virtual thread as Java's own dump has it.
type dumped struct {
	name, state string
	frames      []string
}

var ofModule = regexp.MustCompile(`^[a-z][a-z0-9.]*/`)

const (
	enterSpecial = "jdk.internal.vm.Continuation.enterSpecial(Native Method)"
	yields       = "jdk.internal.vm.Continuation.yield0("
)

// dump has a process dump its virtual threads, by their numbers.
func dump(t *testing.T, bin string, pid int) map[string]*dumped {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dump")
	if out, err := exec.Command(filepath.Join(bin, "jcmd"), strconv.Itoa(pid), "Thread.dump_to_file", "-format=json", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		ThreadDump struct {
			ThreadContainers []struct {
				Threads []struct {
					TID, Name, State any
					Stack            []string
				}
			}
		}
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	all := map[string]*dumped{}
	for _, c := range read.ThreadDump.ThreadContainers {
		for _, x := range c.Threads {
			d := dumped{name: fmt.Sprint(x.Name), state: fmt.Sprint(x.State)}
			virtual := false
			for _, f := range x.Stack {
				f = ofModule.ReplaceAllString(f, "")
				virtual = virtual || strings.HasPrefix(f, "java.lang.VirtualThread.run(")
				d.frames = append(d.frames, f)
			}
			if n := len(d.frames); n > 0 && d.frames[n-1] == enterSpecial {
				d.frames = d.frames[:n-1] // the frame is its carrier's
			}
			if virtual {
				all[fmt.Sprint(x.TID)] = &d
			}
		}
	}
	return all
}

// TestVirtualThreads holds virtual threads, that wait and that run, against the dump that Java
// itself writes.
func TestVirtualThreads(t *testing.T) {
	src := gdbtest.Testdata(t, "..", "language", "java", "testdata", "Virtual.java")
	for _, bin := range machines(t) {
		dir := t.TempDir()
		if out, err := exec.Command(filepath.Join(bin, "javac"), "-d", dir, src).CombinedOutput(); err != nil {
			t.Fatalf("javac: %v\n%s", err, out)
		}
		for name, flags := range map[string][]string{
			"usual":                               nil,
			"compiled":                            {"-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Virtual*::*", "-XX:CompileCommand=compileonly,java.lang.VirtualThread*::*", "-XX:CompileCommand=compileonly,java.lang.Thread*::*", "-XX:CompileCommand=compileonly,jdk.internal.vm*::*", "-XX:CompileCommand=compileonly,java.util.concurrent*::*"},
			"in part":                             {"-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Virtual*::*"},
			"ZGC":                                 {"-XX:+UseZGC"},
			"serial, interprets, wide references": {"-XX:+UseSerialGC", "-Xint", "-XX:-UseCompressedOops"},
		} {
			t.Run(strings.Trim(filepath.Dir(bin), "/")+"/"+name, func(t *testing.T) {
				args := append(slices.Clone(flags), "-Xmx128m", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Djdk.virtualThreadScheduler.parallelism=8",
					"-XX:+UnlockDiagnosticVMOptions", "-XX:+ShowHiddenFrames", "-cp", dir, "Virtual")
				p := gdbtest.StartRunning(t, filepath.Join(bin, "java"), args...)
				want, got := dump(t, bin, p.PID), virtualTasks(t, p.PID)
				stacks, _ := frames(t, p.PID)
				if len(got) != len(want) || len(want) < 116 {
					t.Errorf("%d virtual threads, the dump has %d", len(got), len(want))
				}
				running := 0
				for _, x := range got {
					w := want[fmt.Sprint(x.Number)]
					if w == nil {
						t.Errorf("the dump has no virtual thread #%d %q", x.Number, x.Name)
						continue
					}
					state, _, _ := strings.Cut(x.State, " ")
					if x.Name != w.name || w.state != "<nil>" && state != w.state || x.Early != "" {
						t.Errorf("%d: %q %s %s, the dump has %q %s", x.Number, x.Name, x.State, x.Early, w.name, w.state)
					}
					var list []string
					for i := range x.Frames {
						list = append(list, written(&x.Frames[i]))
					}
					if len(list) > 0 && strings.HasPrefix(list[0], yields) && len(w.frames) > 0 && !strings.HasPrefix(w.frames[0], yields) {
						list = list[1:] // 21 leaves it out
					}
					if x.Thread != 0 {
						list = onCarrier(stacks[x.Thread])
					}
					if x.Name == "comes back, spins" && len(list) > 0 && len(w.frames) > 0 {
						running++
						if spins := "Virtual.spin("; strings.HasPrefix(list[0], spins) && strings.HasPrefix(w.frames[0], spins) {
							list[0] = w.frames[0]
						}
					}
					if !slices.Equal(list, w.frames) {
						t.Errorf("#%d %q, on thread %d:\n%s\nthe dump:\n%s", x.Number, x.Name, x.Thread, strings.Join(list, "\n"), strings.Join(w.frames, "\n"))
					}
					if onStack := len(x.Frames) > 0 && x.Thread != 0; onStack {
						var of []string
						for i := range x.Frames {
							of = append(of, written(&x.Frames[i]))
						}
						if !slices.Equal(of, list) {
							t.Errorf("#%d %q:\n%s\nits carrier:\n%s", x.Number, x.Name, strings.Join(of, "\n"), strings.Join(list, "\n"))
						}
					}
				}
				if running != 1 {
					t.Errorf("%d virtual threads run", running)
				}
			})
		}
	}
}

// onCarrier returns the frames of a thread up to the one by which it has entered a virtual thread.
func onCarrier(list []string) []string {
	i := slices.Index(list, enterSpecial)
	return list[:max(i, 0)]
}
