package java_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
)

var (
	quoted        = regexp.MustCompile(`(?m)^"(.*?)"`)
	waitsForClass = regexp.MustCompile(`(?m)^\t- waiting on the Class initialization monitor for (\S+)$`)
	initializer   = regexp.MustCompile(`(?m)^\tat (\S+)\.<clinit>\(`)
)

// TestInitialization holds the classes that threads wait for, and who initializes them, against
// jstack.
func TestInitialization(t *testing.T) {
	gdbtest.Later(t, "java")
	dir := compileJava(t, "Classes.java")
	for _, name := range []string{"usual", "wide references", "ZGC"} {
		t.Run(name, func(t *testing.T) {
			args := append(slices.Clone(variants[name]), "-XX:+IgnoreUnrecognizedVMOptions", "-Xmx128m", "-cp", dir, "Classes")
			p := gdbtest.StartRunning(t, gdbtest.Tool(t, "java"), args...)
			waits, runs := map[string]string{}, map[string]string{}
			gdbtest.Await(t, "all threads wait", func() bool {
				cmd := exec.Command(gdbtest.Tool(t, "jstack"), strconv.Itoa(p.PID))
				cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range strings.Split(string(out), "\n\n") {
					thread := quoted.FindStringSubmatch(text)
					if m := waitsForClass.FindStringSubmatch(text); m != nil {
						waits[thread[1]] = m[1]
					}
					if m := initializer.FindStringSubmatch(text); m != nil {
						runs[m[1]] = thread[1]
					}
				}
				return len(waits) == 3 && len(runs) == 2
			})
			got, ids := map[string]*language.Thread{}, map[string]int{}
			for id, th := range told(t, p.PID) {
				got[th.Name], ids[th.Name] = th, id
			}
			for thread, class := range waits {
				th := got[thread]
				if th == nil || len(th.Waits) != 1 {
					t.Errorf("thread %q: %+v", thread, th)
					continue
				}
				if l := th.Waits[0]; l.Kind != "class initialization" || l.Name != class || l.Owner != ids[runs[class]] {
					t.Errorf("thread %q waits for %+v, jstack has the class %s, which thread %d %q initializes", thread, l, class, ids[runs[class]], runs[class])
				}
			}
			if th := got["array"]; th == nil || len(th.Waits) != 1 || th.Waits[0].Kind != "notification" {
				t.Errorf("the thread that waits on an array of its own: %+v", th)
			}
		})
	}
}
