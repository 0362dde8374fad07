//go:build linux

package languagetest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/language"
)

// Peer compares sfwalk with another tool on the same stopped processes: OpenTelemetry's coredump,
// built from tools/coredump of its eBPF profiler, whose path the environment's variable
// SFWALK_PEER has. Tests of stops ask it, and log who is right; it fails none of them.
type Peer struct {
	path         string
	ours, theirs verdicts
	stacks       int
	example      string // a stack that the other tool has otherwise than the language
}

// Call is a function's call, as a language or a tool tells it.
type Call struct {
	Function, File string // the file is "" of a function in C
	Line           int
	// Or is another line that is as right, of a moment at which the language itself does not know;
	// 0 for none.
	Or int
}

// Calls returns a thread's frames as calls; [Thread.Frames] has them.
func Calls(frames []language.Placed) (list []Call) {
	for _, f := range frames {
		list = append(list, Call{Function: f.Function, File: f.File, Line: f.Line})
	}
	return list
}

// verdicts counts stacks.
type verdicts struct{ right, lines, wrong, short, none int }

func (v verdicts) String() string {
	return fmt.Sprintf("all right %d, but for lines %d, names wrong, missing or too many %d, cut short %d, nothing %d", v.right, v.lines, v.wrong, v.short, v.none)
}

// NewPeer returns the tool; nil if the environment names none. When the test is over, it logs what
// was compared.
func NewPeer(t testing.TB) *Peer {
	t.Helper()
	name := os.Getenv("SFWALK_PEER")
	if name == "" {
		return nil
	}
	p := &Peer{path: name}
	t.Cleanup(func() {
		t.Logf("peer: %d stacks\nsfwalk: %v\n%s: %v\n%s", p.stacks, p.ours, path.Base(name), p.theirs, p.example)
	})
	return p
}

// named matches a frame that the tool has a function's name for: it has such names of languages
// alone.
var named = regexp.MustCompile(`^(.*)\+\d+ in (.*?):(-?\d+)(?::\d+)?$`)

// Calls returns what the tool tells of a stopped process's thread, the innermost call first.
func (p *Peer) Calls(t testing.TB, pid, tid int) (list []Call) {
	t.Helper()
	if p == nil {
		return nil
	}
	out, err := exec.Command(p.path, "analyze", "-pid", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil // it could not read the process: it tells nothing
	}
	var threads []struct {
		LWP    int      `json:"lwp"`
		Frames []string `json:"frames"`
	}
	if err := json.Unmarshal(out, &threads); err != nil {
		t.Fatalf("%s: %v", p.path, err)
	}
	for _, th := range threads {
		if th.LWP != tid {
			continue
		}
		for _, f := range th.Frames {
			if m := named.FindStringSubmatch(f); m != nil {
				line, _ := strconv.Atoi(m[3])
				list = append(list, Call{Function: m[1], File: m[2], Line: line})
			}
		}
	}
	return list
}

// Compare counts one stack. want is what the language itself tells, the innermost first; both tools
// may have more calls within the innermost. Functions in C do not count, for tools differ in which
// ones they show.
func (p *Peer) Compare(want, ours, theirs []Call) {
	if p == nil || len(inFiles(want)) == 0 {
		return
	}
	p.stacks++
	p.ours.count(want, ours)
	if before := p.theirs.right; !p.theirs.count(want, theirs) && p.example == "" {
		p.example = fmt.Sprintf("the language:\n%v\nthe tool:\n%v (%d right before)", want, theirs, before)
	}
}

// count reports whether all is right.
func (v *verdicts) count(want, got []Call) bool {
	want, got = inFiles(want), inFiles(got)
	n := len(got) - len(want)
	switch {
	case len(got) == 0:
		v.none++
		return false
	case n < 0:
		for i := range got {
			if !same(got[i], want[i]) {
				v.wrong++
				return false
			}
		}
		v.short++
		return false
	}
	lines := true
	for i, w := range want {
		g := got[n+i]
		if !same(g, w) {
			v.wrong++
			return false
		}
		lines = lines && (g.Line == w.Line || w.Or != 0 && g.Line == w.Or)
	}
	if !lines {
		v.lines++
		return false
	}
	v.right++
	return true
}

// inFiles leaves out functions in C.
func inFiles(list []Call) (all []Call) {
	for _, c := range list {
		if c.File != "" {
			all = append(all, c)
		}
	}
	return all
}

// same reports whether two calls are of the same function: of what has no name of its own, such as
// a closure, tools write what they like, and the place decides.
func same(a, b Call) bool {
	if path.Base(a.File) != path.Base(b.File) {
		return false
	}
	return a.Line == b.Line || a.Line == b.Or || base(a.Function) == base(b.Function)
}

// last matches the last identifier of a function's name.
var last = regexp.MustCompile(`[^\s.:#/>\\]+$`)

// base returns a function's own name, without its class.
func base(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return last.FindString(strings.Trim(strings.TrimSpace(name), "<>{}'`"))
}
