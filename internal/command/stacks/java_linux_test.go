package stacks_test

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// javaPrograms have threads that wait. The virtual machine itself tells how many frames of Java
// each has, where none is inlined.
var javaPrograms = []program{
	{name: "waiting", run: "java -XX:-Inline -cp . Waits 200"},
	{name: "waiting, consistent", run: "java -XX:-Inline -cp . Waits 200", consistent: true},
	{name: "waiting, compiled by C1", run: "java -XX:-Inline -XX:TieredStopAtLevel=1 -cp . Waits 100"},
	{name: "waiting, interpreted", run: "java -Xint -cp . Waits 100"},
}

// TestJava compares the stacks of Java programs with jstack's. SFWALK_JAVA is the folder of another
// release's java and jstack. It installs the packages that it needs: make soak.
func TestJava(t *testing.T) {
	gdbtest.NeedSoak(t)
	src := gdbtest.Testdata(t, "..", "internal", "command", "stacks", "testdata", "programs")
	for _, p := range javaPrograms {
		t.Run(p.name, func(t *testing.T) {
			p.apt = "default-jdk-headless"
			p.install(t)
			t.Chdir(t.TempDir())
			if out, err := exec.Command("javac", "-d", ".", src+"/Waits.java").CombinedOutput(); err != nil {
				t.Fatalf("javac: %v\n%s", err, out)
			}
			sh := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", `echo ready; PATH="$SFWALK_JAVA:$PATH"; exec `+p.run+" >/dev/null 2>&1")
			awaitWork(t, sh.PID)
			want := map[int]int{}
			gdbtest.Await(t, "all threads wait", func() bool {
				before := len(want)
				want = jstack(t, sh.PID)
				return len(want) > 50 && len(want) == before
			})
			compared := 0
			for range 20 {
				doc := p.take(t, sh.PID)
				for i := range doc.Threads {
					th := &doc.Threads[i]
					if n, got := want[th.TID], ofJava(th); n > 0 && (!th.Whole || got != n) {
						t.Fatalf("%d frames of Java, jstack has %d; %s %s%s", got, n, th.Stop, th.Error, listed(th))
					} else if n > 0 {
						compared++
					}
					if !th.Whole {
						t.Errorf("cut: %s %s%s", th.Stop, th.Error, listed(th))
					}
				}
			}
			t.Logf("%d stacks are as jstack has them", compared)
		})
	}
}

// ofJava returns how many frames of Java a thread has: the frames in the virtual machine's
// generated code, but for the one from which C++ has called.
func ofJava(th *report.Thread) (n int) {
	for i := range th.Frames {
		if th.Frames[i].Sniffer == "hotspot" {
			n++
		}
	}
	return n - 1
}

var nid = regexp.MustCompile(`nid=(0x[0-9a-f]+|\d+)`)

// jstack returns how many frames of Java each thread has that waits in Waits.
func jstack(t *testing.T, pid int) map[int]int {
	tool := exec.Command("sh", "-c", `PATH="$SFWALK_JAVA:$PATH"; exec jstack `+strconv.Itoa(pid))
	out, err := tool.Output()
	if err != nil {
		return nil // the virtual machine has not started yet
	}
	frames := map[int]int{}
	for _, text := range strings.Split(string(out), "\n\n") {
		id := nid.FindStringSubmatch(text)
		if id == nil || !strings.Contains(text, "Waits") || strings.Contains(text, "RUNNABLE") {
			continue
		}
		tid, err := strconv.ParseInt(id[1], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		frames[int(tid)] = strings.Count(text, "\n\tat ")
	}
	return frames
}
