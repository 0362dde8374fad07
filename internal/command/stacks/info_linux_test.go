package stacks_test

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var (
	relationText = regexp.MustCompile(`called by frame at 0x[0-9a-f]+|caller of frame at 0x[0-9a-f]+|[Pp]revious frame's sp is 0x[0-9a-f]+|source language [a-z+]+|inlined into frame \d+`)
	savedPCText  = regexp.MustCompile(`saved (?:rip =|pc) (0x[0-9a-f]+)`)
	savedAtText  = regexp.MustCompile(`\b\w+ at 0x[0-9a-f]+`)
)

// relations returns what gdb's info frame, or --explain, tells of one frame.
func relations(text string) (list []string) {
	for _, x := range relationText.FindAllString(text, -1) {
		list = append(list, strings.ToLower(x))
	}
	if m := savedPCText.FindStringSubmatch(text); m != nil {
		list = append(list, "saved pc "+m[1])
	}
	if at := regexp.MustCompile(`[Ss]aved registers:`).FindStringIndex(text); at != nil {
		list = append(list, savedAtText.FindAllString(text[at[1]:], -1)...)
	}
	slices.Sort(list)
	return list
}

// TestExplainInfo compares what --explain shows of each frame, as text and as JSON, with gdb's info
// frame.
func TestExplainInfo(t *testing.T) {
	for _, program := range []struct{ source, flags string }{{"chain.c", "-g -O0"}, {"chain.c", "-O2"}, {"inline.c", "-g -O2"}} {
		t.Run(program.source+" "+program.flags, func(t *testing.T) {
			p := gdbtest.Start(t, gdbtest.Build(t, program.source, strings.Fields(program.flags)...))
			pid := strconv.Itoa(p.PID)
			out, _, err := commandtest.Run("attach", pid, "--explain")
			if err != nil {
				t.Fatal(err)
			}
			frames := regexp.MustCompile(`(?m)^#\d+ `).Split(out, -1)[1:]
			n := slices.IndexFunc(frames, func(s string) bool { return strings.Contains(s, " in main") }) // gdb ends stacks there
			if n < 5 {
				t.Fatalf("%d frames before main:\n%s", n, out)
			}
			args := []string{"-nx", "-batch", "-p", pid}
			for i := range n {
				args = append(args, "-ex", `echo \n@\n`, "-ex", "info frame level "+strconv.Itoa(i))
			}
			gdb, err := exec.Command(gdbtest.Tool(t, "gdb"), args...).CombinedOutput()
			if err != nil {
				t.Fatalf("gdb: %v: %s", err, gdb)
			}
			document, _, err := commandtest.Run("attach", pid, "--explain", "--json")
			if err != nil {
				t.Fatal(err)
			}
			inJSON := relationsInJSON(t, document)
			for i, text := range strings.Split(string(gdb), "\n@\n")[1:] {
				want := relations(text)
				if strings.Contains(frames[i], "inlined into") { // the rest is with the frame around it
					want = slices.DeleteFunc(want, func(s string) bool { return !strings.HasPrefix(s, "inlined into") })
				} else if len(want) < 5 {
					t.Fatalf("gdb's frame %d: %s", i, text)
				}
				if got := relations(frames[i]); !slices.Equal(got, want) {
					t.Errorf("frame %d: %q, gdb has %q", i, got, want)
				}
				if inJSON[i] != nil && !slices.Equal(inJSON[i], want) {
					t.Errorf("frame %d as JSON: %q, gdb has %q", i, inJSON[i], want)
				}
			}
		})
	}
}

// relationsInJSON is relations for all frames of the first thread of a document; nil for inlined
// calls.
func relationsInJSON(t *testing.T, document string) (list [][]string) {
	t.Helper()
	var doc struct {
		Threads []struct {
			Frames []struct {
				Explain *struct {
					SavedPC    *string `json:"saved_pc"`
					CalledBy   *string `json:"called_by"`
					CallerOf   *string `json:"caller_of"`
					PreviousSP *string `json:"previous_sp"`
					Language   string
					Saved      []struct{ Name, Address string } `json:"saved_registers"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	for _, f := range doc.Threads[0].Frames {
		var one []string
		if e := f.Explain; e != nil {
			for name, value := range map[string]*string{"saved pc ": e.SavedPC, "called by frame at ": e.CalledBy, "caller of frame at ": e.CallerOf, "previous frame's sp is ": e.PreviousSP} {
				if value != nil {
					one = append(one, name+*value)
				}
			}
			if e.Language != "" {
				one = append(one, "source language "+e.Language)
			}
			for _, r := range e.Saved {
				one = append(one, r.Name+" at "+r.Address)
			}
			slices.Sort(one)
		}
		list = append(list, one)
	}
	return list
}
