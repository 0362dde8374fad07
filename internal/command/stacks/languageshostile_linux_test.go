package stacks_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// hostile is a decorator of the program of toylanguage.c that says what lies says.
type hostile struct {
	lies func(s *language.Stack) (*language.Decoration, error)
}

func (hostile) Name() string { return "hostile" }

// Find implements [language.Decorator].
func (h hostile) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	found, err := toy{}.Find(p, m)
	if len(found) == 0 {
		return nil, err
	}
	return []language.Runtime{h}, err
}

// Decorate implements [language.Runtime].
func (h hostile) Decorate(s *language.Stack) (*language.Decoration, error) { return h.lies(s) }

// odd is a text that would add lines and steer a terminal, and is long.
var odd = "a\nThread 1 \"forged\"\r\t\x1b[31m\x9b\xff\u202e\u2028</script>\"'`;" + strings.Repeat("\x00é", 1<<20)

// atFrame is an anchor that is right.
func atFrame(s *language.Stack, level int) language.Anchor {
	cfa, _ := s.Frames[level].CFA()
	return language.Anchor{Level: level, PC: s.Frames[level].PC(), CFA: cfa, Beside: true}
}

// hostiles are decorators that fail and lie. Each has what is said of it; "" for nothing.
var hostiles = map[string]struct {
	lies func(s *language.Stack) (*language.Decoration, error)
	said string
}{
	"panics": {func(s *language.Stack) (*language.Decoration, error) {
		return &language.Decoration{Own: []int{s.Frames[1<<20].Level}}, nil
	}, "the decorator has failed"},
	"fails": {func(*language.Stack) (*language.Decoration, error) { return nil, errors.New(odd) }, `hostile: a\nThread 1`},
	"anchors outside": {func(s *language.Stack) (*language.Decoration, error) {
		right, frame := atFrame(s, 0), []language.Frame{{Function: "lie"}}
		wrong := right
		wrong.CFA++
		return &language.Decoration{Own: []int{-1, 1 << 40}, Names: map[int]string{-5: "lie", 1 << 30: "lie"}, Groups: []language.Group{
			{Anchor: language.Anchor{Level: -1}, Frames: frame}, {Anchor: language.Anchor{Level: 1 << 40, PC: right.PC}, Frames: frame},
			{Anchor: wrong, Frames: frame}, {Anchor: language.Anchor{Address: ^uint64(0)}, Frames: frame}, {Anchor: language.Anchor{Address: 1}, Frames: frame}, {},
		}}, nil
	}, language.NoPlace},
	"many frames": {func(s *language.Stack) (*language.Decoration, error) {
		frames := make([]language.Frame, 1<<16)
		d := &language.Decoration{}
		for range 5 {
			d.Groups = append(d.Groups, language.Group{Anchor: atFrame(s, 0), Frames: frames})
		}
		return d, nil
	}, "the outer ones are left out"},
	"odd texts": {func(s *language.Stack) (*language.Decoration, error) {
		values := []language.Variable{{Name: odd, Type: odd, Value: odd}}
		locks := slices.Repeat([]language.Lock{{Kind: odd, Name: odd, Address: 1, Owner: s.Thread.ID(), Level: -7}, {Owner: -1, Address: 1, Level: 1 << 40}}, 1<<12)
		return &language.Decoration{
			Names: map[int]string{0: odd}, Early: odd,
			Groups: []language.Group{{Anchor: atFrame(s, 0), Frames: []language.Frame{{Function: odd, File: odd, Line: -3, Kind: odd, Args: values, Locals: values}}}},
			Thread: language.Thread{Name: odd, State: odd, Exception: odd, Waits: locks, Holds: locks},
		}, nil
	}, `hostile: a\nThread 1`},
}

// TestHostileDecorators: whatever a decorator says, all physical frames are there as without it,
// and each output is of its form.
func TestHostileDecorators(t *testing.T) {
	pid, threads := toyTarget(t)
	for name, h := range hostiles {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{
				{}, {"--all-frames", "--explain", "--locals"}, {"--json", "--locals", "--consistent", "--max-frames", "0"}, {"--consistent"}, {"--merge"}, {"--tree"},
				{"--format", "folded"}, {"--format", "flamegraph"}, {"--format", "speedscope"}, {"--outer", "3"}, {"--max-frames", "5"},
			} {
				out, warnings := hostileStacks(t, pid, h.lies, "", args...)
				what := strings.Join(args, " ")
				if warnings != strings.Map(printed, warnings) || !strings.HasPrefix(what, "--format") && !strings.HasPrefix(what, "--json") && out != strings.Map(printed, out) {
					t.Errorf("%s: characters that nobody sees", what)
				}
				if strings.Contains(out+warnings, "\nThread 1 ") {
					t.Errorf("%s: a forged line", what)
				}
				if !strings.Contains(warnings, h.said) {
					t.Errorf("%s: no %q in %.2000s", what, h.said, warnings)
				}
				if len(out) > 128<<20 && !strings.HasSuffix(what, " 0") {
					t.Errorf("%s: %d bytes", what, len(out))
				}
				if strings.HasPrefix(what, "--json") {
					sameFrames(t, out, threads)
				}
			}
			file := filepath.Join(t.TempDir(), "snapshot")
			hostileStacks(t, pid, h.lies, file)
			out, _, err := commandtest.Run("open", file, "--json", "--max-frames", "0")
			if err != nil {
				t.Fatal(err)
			}
			sameFrames(t, out, threads)
		})
	}
}

// printed drops characters that steer a terminal.
func printed(c rune) rune {
	if c != '\n' && !unicode.IsGraphic(c) {
		return -1
	}
	return c
}

// sameFrames compares the physical frames of a document with gdb's.
func sameFrames(t *testing.T, out string, threads map[string]*toyThread) {
	t.Helper()
	var doc toyDocument
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		want := 0
		for _, f := range th.all {
			if !strings.HasPrefix(f, "toy:") {
				want++
			}
		}
		for _, got := range doc.Threads {
			n := 0
			for _, f := range got.Frames {
				if f.Type != report.Language {
					n++
				}
			}
			if got.TID == th.tid && n != want {
				t.Errorf("thread %d: %d physical frames, want %d", th.tid, n, want)
			}
		}
	}
}

// hostileStacks is toyStacks with a hostile decorator. It saves a snapshot if file is not "".
func hostileStacks(t *testing.T, pid int, lies func(*language.Stack) (*language.Decoration, error), file string, args ...string) (out, warnings string) {
	t.Helper()
	flags := report.Flags{Decorators: []language.Decorator{hostile{lies}}}
	if file != "" {
		flags.Kept = report.NewKeptLanguages()
	}
	consistent := false
	cmd := &cobra.Command{RunE: func(cmd *cobra.Command, _ []string) error {
		if err := flags.Begin(cmd); err != nil {
			return err
		}
		defer flags.End(cmd)
		s, err := targets.Process(cmd.Context(), pid, live.Options{Timeout: 30 * time.Second, Consistent: consistent, LowMemory: file == ""})
		if err != nil {
			return err
		}
		defer s.Close()
		if err := show.Target(cmd, s, &flags); err != nil || file == "" {
			return err
		}
		made, err := s.Snapshot()
		if err != nil {
			return err
		}
		flags.Kept.AddTo(made)
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		defer f.Close()
		return made.Write(f)
	}}
	flags.Add(cmd, pluginhost.Host{})
	flags.Sum.AddFormat(cmd)
	cmd.Flags().BoolVar(&consistent, "consistent", false, "")
	out, warnings, err := commandtest.Execute(cmd, args...)
	if err != nil && !errors.Is(err, exit.ErrEarly) { // many frames are more text than all threads may have
		t.Fatalf("%q: %v\n%.2000s", args, err, warnings)
	}
	return out, warnings
}

// TestDecoratorOfManyFrames: a decorator that gives one thread very many frames takes nothing from
// the stacks of the others, and the user learns what is left out.
func TestDecoratorOfManyFrames(t *testing.T) {
	pid, threads := toyTarget(t)
	deep := 0 // the first thread
	for _, th := range threads {
		if deep == 0 || th.tid < deep {
			deep = th.tid
		}
	}
	frames := make([]language.Frame, 1<<17)
	for i := range frames {
		frames[i] = language.Frame{Function: strings.Repeat("f", 200), File: strings.Repeat("g", 400)}
	}
	many := func(s *language.Stack) (*language.Decoration, error) {
		if s.Thread.ID() != deep {
			return nil, nil
		}
		return &language.Decoration{Groups: []language.Group{{Anchor: atFrame(s, 0), Frames: frames}}}, nil
	}
	none := func(*language.Stack) (*language.Decoration, error) { return nil, nil }
	if len(threads) < 2 {
		t.Fatalf("%d threads", len(threads))
	}
	for _, args := range [][]string{{}, {"--merge"}, {"--locals"}} {
		plain, _ := hostileStacks(t, pid, none, "", args...)
		out, warnings := hostileStacks(t, pid, many, "", args...)
		for _, block := range strings.Split(plain, "\n\n") {
			head, _, _ := strings.Cut(block, "\n")
			if !strings.Contains(head, strconv.Itoa(deep)) && !strings.Contains(out, block) {
				t.Errorf("%q: another stack is not as without the decorator:\n%s", args, block)
			}
		}
		if n := strings.Count(out, "[hostile]"); n < report.LeastFrames || n == len(frames) || !strings.Contains(warnings, "left out: of all threads together") {
			t.Errorf("%q: %d frames, and the warnings %.2000s", args, n, warnings)
		}
	}
	for _, args := range [][]string{{"--json"}, {"--json", "--consistent"}} {
		out, _ := hostileStacks(t, pid, many, "", args...)
		sameFrames(t, out, threads)
	}
	// All are there if the user asks for all.
	if out, warnings := hostileStacks(t, pid, many, "", "--max-frames", "0"); strings.Count(out, "[hostile]") != len(frames) || strings.Contains(warnings, "left out") {
		t.Errorf("%d frames, and the warnings %.2000s", strings.Count(out, "[hostile]"), warnings)
	}
}
