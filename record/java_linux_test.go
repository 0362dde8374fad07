package record_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/java"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// busyStacks are the stacks that each thread of testdata/Busy.java can have, with the outermost
// function first.
var busyStacks = map[string]*regexp.Regexp{
	"one":   regexp.MustCompile(`^java\.lang\.Thread\.run( java\.lang\.Thread\.runWith)?( \S*Lambda\S*\.run)? Busy\.one( Busy\.fib)*$`),
	"other": regexp.MustCompile(`^java\.lang\.Thread\.run( java\.lang\.Thread\.runWith)?( \S*Lambda\S*\.run)? Busy\.other( Busy\.even Busy\.odd)*( Busy\.even)?$`),
}

// TestJava samples a virtual machine that computes, without stopping it, from its start on. The
// threads' frames of Java are such as the program's source allows, and no class that has come and
// gone is in a stack of others.
func TestJava(t *testing.T) {
	gdbtest.Later(t, "java")
	if arch.ByName("amd64") == nil {
		t.Fatal("no amd64")
	}
	javac, run := gdbtest.Tool(t, "javac"), gdbtest.Tool(t, "java")
	dir := t.TempDir()
	if out, err := exec.Command(javac, "-d", dir, filepath.Join("testdata", "Busy.java"), filepath.Join("testdata", "Brief.java")).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	for name, flags := range map[string]string{
		"compiled":    "-Xmx64m",
		"C1":          "-XX:TieredStopAtLevel=1",
		"interpreted": "-Xint",
	} {
		t.Run(name, func(t *testing.T) {
			process := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; exec "+run+" "+flags+" -cp "+dir+" Busy >/dev/null 2>&1")
			r, err := record.Start(record.Options{
				PIDs: []int{process.PID}, Frequency: 499,
				Table:      func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
				Decorators: func(int) []language.Decorator { return []language.Decorator{java.Decorator{}} },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- r.Run(ctx) }()
			gdbtest.Await(t, "there are samples", func() bool { return r.Stats().Samples > 700 })
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			names := symbol.New(symbol.Options{})
			defer names.Close()
			stacks := r.Profile().Picture(names)
			right, brief, cut := map[string]int64{}, int64(0), int64(0)
			for _, s := range stacks.Samples {
				var list []string
				ends := ""
				for _, f := range s.Frames {
					switch p := &stacks.Places[f]; {
					case p.Code == picture.LanguageCode:
						list = append([]string{p.Function}, list...)
					case strings.HasPrefix(p.Name, "[") && !strings.HasPrefix(p.Name, "[kernel]"):
						ends = p.Name
					}
				}
				thread, n := s.Texts[0].Value, s.Values[0]
				want := busyStacks[thread]
				stack := strings.Join(list, " ")
				switch {
				case thread == "gone" && strings.Contains(stack, "Busy.gone") && strings.Contains(stack, "Brief.run"):
					brief += n
				case strings.Contains(stack, "Brief.") && thread != "gone":
					t.Errorf("thread %s, %d times: %s", thread, n, stack)
				case want == nil || len(list) == 0:
				case ends != "":
					cut += n
				case want.MatchString(stack):
					right[thread] += n
				case !strings.Contains(stack, "Busy."): // it has just begun
				default:
					var all []string
					for _, f := range s.Frames {
						all = append(all, fmt.Sprintf("%s/%s", stacks.Places[f].Name, stacks.Places[f].Function))
					}
					t.Errorf("thread %s, %d times: %s\n\tall frames: %q", thread, n, stack, all)
				}
			}
			t.Logf("%v %d %d %+v", right, brief, cut, r.Stats())
			if right["one"] < 50 || right["other"] < 50 || brief < 10 || cut > (right["one"]+right["other"])/20 {
				t.Errorf("%v stacks are right, %d are of classes that come and go, %d are cut", right, brief, cut)
			}
		})
	}
}
