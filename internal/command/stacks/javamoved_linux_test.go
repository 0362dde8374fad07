package stacks_test

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// pair is an object of Moves.java that is on the heap: each field follows from the first one.
var pair = regexp.MustCompile(`^Moves\$Pair@0x[0-9a-f]+ \{number=(\d+), (?:twice=(\d+), )?text="is (\d+)"(?:, twice=(\d+))?\}$`)

// TestJavaMoved looks at objects of a process that never rests, while a collector moves them.
func TestJavaMoved(t *testing.T) {
	gdbtest.Later(t, "java")
	javac, java := gdbtest.Tool(t, "javac"), gdbtest.Tool(t, "java")
	dir := t.TempDir()
	src := gdbtest.Testdata(t, "..", "internal", "command", "stacks", "testdata", "programs", "Moves.java")
	if out, err := exec.Command(javac, "-g", "-d", dir, src).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	for _, collector := range []string{"UseG1GC", "UseZGC", "UseShenandoahGC", "UseParallelGC"} {
		t.Run(collector, func(t *testing.T) {
			// What a compiler has taken apart is on no heap.
			p := gdbtest.StartRunning(t, java, "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+"+collector, "-XX:-DoEscapeAnalysis", "-Xmx128m", "-cp", dir, "Moves")
			right := 0
			for stop := 0; stop < 100 && right < 200; stop++ {
				out, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--locals", "--json", "--no-lines")
				if out == "" {
					t.Fatal(err) // a stack that ends early is another test's
				}
				type variable struct{ Name, Value string }
				var doc struct {
					Threads []struct {
						Frames []struct {
							Function     string
							Args, Locals []variable
						}
					}
				}
				if err := json.Unmarshal([]byte(out), &doc); err != nil {
					t.Fatal(err)
				}
				for _, th := range doc.Threads {
					for _, f := range th.Frames {
						for _, v := range append(f.Args, f.Locals...) {
							if f.Function != "Moves.down" || !strings.HasPrefix(v.Value, "Moves$Pair") {
								continue
							}
							m := pair.FindStringSubmatch(v.Value)
							if m == nil {
								t.Fatalf("%s = %s", v.Name, v.Value)
							}
							if n, _ := strconv.Atoi(m[1]); m[3] != m[1] || m[2]+m[4] != strconv.Itoa(2*n) {
								t.Fatalf("%s = %s", v.Name, v.Value)
							}
							right++
						}
					}
				}
			}
			if right < 200 {
				t.Errorf("only %d objects were compared", right)
			}
		})
	}
}
