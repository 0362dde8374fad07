package record_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// shadow decorates the stacks of testdata/progs/shadowstack.c. Its run times cannot be read for the
// first fails times.
type shadow struct{ fails int }

func (*shadow) Name() string { return "shadow" }

// Find implements [language.Decorator].
func (d *shadow) Find(_ *language.Process, m *target.Module) ([]language.Runtime, error) {
	f, err := elf.Open(m.Path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if s.Name != "shadow_threads" {
			continue
		}
		if d.fails--; d.fails >= 0 {
			return nil, errors.New("it has just begun")
		}
		_, bias, err := m.Image()
		return []language.Runtime{shadowRuntime{s.Value + bias}}, err
	}
	return nil, nil
}

type shadowRuntime struct{ threads uint64 }

// Decorate implements [language.Runtime].
func (r shadowRuntime) Decorate(s *language.Stack) (*language.Decoration, error) {
	word := func(addr uint64) uint64 {
		var b [8]byte
		s.Memory.ReadMemory(addr, b[:])
		return binary.LittleEndian.Uint64(b[:])
	}
	d := &language.Decoration{}
	for at := r.threads; at < r.threads+2*16; at += 16 {
		if word(at) != uint64(s.Thread.ID()) {
			continue
		}
		for x := word(at + 8); x != 0 && len(d.Groups) < 100; x = word(x) {
			level := word(x + 16)
			d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Address: word(x + 8)}, Frames: []language.Frame{
				{Function: fmt.Sprint("level", int64(level)), File: "/srv/shadow.src", Line: int(level)},
			}})
		}
		return d, nil
	}
	return nil, nil
}

// recordShadow records the program by stops, and returns its stacks, with the innermost function
// first, by how often each was found.
func recordShadow(t *testing.T, d language.Decorator, hidden bool, change func(*record.Options)) (found map[string]int64, p *record.Profile, stacks *picture.Stacks) {
	t.Helper()
	process := gdbtest.StartRunning(t, gdbtest.Build(t, "shadowstack.c", "-O1", "-g", "-pthread"))
	options := record.Options{
		PIDs: []int{process.PID}, Wall: true, Frequency: 500, HiddenFrames: hidden,
		Table:      func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
		Decorators: func(int) []language.Decorator { return []language.Decorator{d} },
	}
	if change != nil {
		change(&options)
	}
	r, err := record.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	over := options.Duration > 0
	gdbtest.Await(t, "there are samples", func() bool { return over || r.Stats().Samples > 200 })
	if !over {
		cancel()
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	cancel()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	p = r.Profile()
	stacks = p.Picture(names)
	found = map[string]int64{}
	for _, s := range stacks.Samples {
		var list []string
		for _, f := range s.Frames {
			list = append(list, stacks.Places[f].Shown())
		}
		found[strings.Join(list, " ")] += s.Values[0]
	}
	return found, p, stacks
}

// justBegun matches the stack of a thread that is not in its function yet.
var justBegun = regexp.MustCompile(`^(?:start_thread )?(?:__)?clone3?$`)

// TestLanguages records frames of a language that change all the time. On each stack, the levels
// are the ones that the program's source allows: none is missing, none is left of an earlier
// moment.
func TestLanguages(t *testing.T) {
	for hidden, evaluate := range map[bool]string{false: "", true: "evaluate "} {
		found, p, stacks := recordShadow(t, &shadow{}, hidden, nil)
		waits, computes, deep := int64(0), int64(0), 0
		for stack, n := range found {
			// A call of evaluate has no record at its beginning and at its end.
			if justBegun.MatchString(stack) {
				continue
			}
			m := regexp.MustCompile(`^(?:(?:[^l ]|l[^e ])\S* )*?(?:evaluate )??((?:` + evaluate + `level\d+ )*)(?:compute|main) `).FindStringSubmatch(stack)
			if m == nil {
				t.Errorf("%d times: %s", n, stack)
				continue
			}
			depth := strings.Count(m[1], "level")
			want := ""
			for level := depth; level > 0; level-- {
				want += fmt.Sprintf("%slevel%d ", evaluate, level)
			}
			if m[1] != want {
				t.Errorf("%d times: %s", n, stack)
			}
			deep = max(deep, depth)
			if strings.Contains(stack, " block "+evaluate+"level5 ") {
				waits += n
			} else if strings.Contains(stack, "compute") {
				computes += n
			}
		}
		if s := &p.Stats; waits < 50 || computes < 50 || deep < 10 || s.Stopped > s.Samples/20 {
			t.Errorf("hidden frames %v: %d wait, %d compute, %d levels, %+v", hidden, waits, computes, deep, s)
		}
		for i := range stacks.Places {
			if at := &stacks.Places[i]; strings.HasPrefix(at.Function, "level") {
				if at.Code != picture.LanguageCode || at.File != "/srv/shadow.src" || fmt.Sprint("level", at.Line) != at.Function || at.Address != 0 || at.Module != nil {
					t.Errorf("%+v", at)
				}
			}
		}
	}
}

// TestLanguageBegins records a run time that can be read after a time, and one that never can.
func TestLanguageBegins(t *testing.T) {
	var said []string
	warn := func(o *record.Options) {
		o.Warn = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
		o.Duration = 1500 * time.Millisecond
	}
	found, _, _ := recordShadow(t, &shadow{fails: 1}, false, warn)
	if all := fmt.Sprint(found); !strings.Contains(all, "level5") || len(said) > 0 {
		t.Errorf("%s\n%q", all, said)
	}
	found, _, _ = recordShadow(t, &shadow{fails: 1000}, false, warn)
	if all := fmt.Sprint(found); strings.Contains(all, "level") || !strings.Contains(strings.Join(said, "\n"), "frames of shadow are not shown: it has just begun") {
		t.Errorf("%s\n%q", all, said)
	}
}
