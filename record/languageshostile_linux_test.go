package record_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/target"
)

// liar is a decorator of testdata/progs/shadowstack.c that says what lies says.
type liar struct {
	lies func(s *language.Stack) (*language.Decoration, error)
}

func (liar) Name() string { return "shadow" }

// Find implements [language.Decorator].
func (d liar) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	found, err := (&shadow{}).Find(p, m)
	if len(found) == 0 {
		return nil, err
	}
	return []language.Runtime{d}, err
}

// Decorate implements [language.Runtime].
func (d liar) Decorate(s *language.Stack) (*language.Decoration, error) { return d.lies(s) }

// at is a group that stands outside of a physical frame.
func at(s *language.Stack, level int, frames ...language.Frame) language.Group {
	cfa, _ := s.Frames[level].CFA()
	return language.Group{Anchor: language.Anchor{Level: level, PC: s.Frames[level].PC(), CFA: cfa, Beside: true}, Frames: frames}
}

// oddText would add lines, frames and elements to pictures.
var oddText = "a\nforged 7;forged\r\t\x1b[31m\x9b\xff\u202e\u2028</title><script>\"'`{}" + strings.Repeat("\x00é", 1<<12)

// hostileDecorators are decorators that fail and lie. Each has what the places of the recording
// have of it; "" for nothing.
var hostileDecorators = map[string]struct {
	lies func(s *language.Stack) (*language.Decoration, error)
	said string
}{
	"panics": {func(s *language.Stack) (*language.Decoration, error) {
		return &language.Decoration{Own: []int{s.Frames[1<<20].Level}}, nil
	}, "the decorator has failed"},
	"fails": {func(*language.Stack) (*language.Decoration, error) { return nil, errors.New(oddText) }, "forged 7"},
	"anchors outside": {func(s *language.Stack) (*language.Decoration, error) {
		lie := []language.Frame{{Function: "lie"}}
		wrong := at(s, 0, lie...)
		wrong.Anchor.CFA++
		return &language.Decoration{Own: []int{-1, 1 << 40}, Names: map[int]string{-5: "lie", 1 << 30: "lie"}, Groups: []language.Group{
			wrong, {Anchor: language.Anchor{Level: -1}, Frames: lie}, {Anchor: language.Anchor{Address: ^uint64(0)}, Frames: lie}, {},
		}}, nil
	}, language.NoPlace},
	"many frames": {func() func(s *language.Stack) (*language.Decoration, error) {
		frames := make([]language.Frame, 1<<16)
		return func(s *language.Stack) (*language.Decoration, error) {
			g := at(s, 0, frames...)
			return &language.Decoration{Groups: []language.Group{g, g, g}}, nil
		}
	}(), "the outer ones are left out"},
	"many names": {func() func(s *language.Stack) (*language.Decoration, error) {
		n := 0
		return func(s *language.Stack) (*language.Decoration, error) {
			g := at(s, 0)
			for range 4000 {
				n++
				g.Frames = append(g.Frames, language.Frame{Function: "name" + strconv.Itoa(n), File: strings.Repeat("f", 1000)})
			}
			return &language.Decoration{Groups: []language.Group{g}}, nil
		}
	}(), ""},
	"odd texts": {func(s *language.Stack) (*language.Decoration, error) {
		return &language.Decoration{Names: map[int]string{0: oddText}, Early: oddText, Groups: []language.Group{at(s, 0, language.Frame{Function: oddText, File: oddText, Line: -3, Kind: oddText})}}, nil
	}, "forged 7"},
}

// TestHostileLanguages: whatever a decorator says, a recording has the physical frames as without
// it, and each format is of its form.
func TestHostileLanguages(t *testing.T) {
	waiting := regexp.MustCompile(` block (?:(?:evaluate|level\d+) )*.*\bmain\b`)
	for name, h := range hostileDecorators {
		t.Run(name, func(t *testing.T) {
			found, p, stacks := recordShadow(t, liar{h.lies}, false, func(o *record.Options) { o.Duration, o.Frequency = time.Second, 50 })
			all, waits, said := int64(0), int64(0), false
			for stack, n := range found {
				all += n
				if waiting.MatchString(" " + stack) {
					waits += n
				}
				said = said || strings.Contains(stack, h.said)
			}
			if waits == 0 || waits < all/10 || !said {
				t.Errorf("%d of %d samples have the frames of the thread that waits; %q is said: %v; %+v", waits, all, h.said, said, p.Stats)
			}
			for i := range picture.Formats {
				f := &picture.Formats[i]
				var out bytes.Buffer
				if err := stacks.Write(&out, f.Name); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
				formed(t, f.Name, out.Bytes(), stacks)
			}
		})
	}
}

// formed checks the form of a written picture by readers that are not sfwalk's.
func formed(t *testing.T, format string, out []byte, stacks *picture.Stacks) {
	t.Helper()
	total := int64(0)
	for _, s := range stacks.Samples {
		total += s.Values[0]
	}
	switch format {
	case "pprof":
		p, err := profile.Parse(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if err := p.CheckValid(); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		n := int64(0)
		for _, s := range p.Sample {
			n += s.Value[0]
		}
		if n != total {
			t.Errorf("%s: %d samples, want %d", format, n, total)
		}
		for _, f := range p.Function {
			if f.Name != strings.Map(graphic, f.Name) || f.Filename != strings.Map(graphic, f.Filename) {
				t.Errorf("%s: %.100q in %.100q", format, f.Name, f.Filename)
			}
		}
	case "folded":
		n := int64(0)
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSuffix(line, "\n")
			at := strings.LastIndex(line, " ")
			count, err := strconv.ParseInt(line[at+1:], 10, 64)
			if err != nil || line != strings.Map(graphic, line) || strings.HasPrefix(line, "forged") {
				t.Fatalf("%s: %.200q: %v", format, line, err)
			}
			n += count
		}
		if n != total {
			t.Errorf("%s: %d samples, want %d", format, n, total)
		}
	case "json", "speedscope", "firefox":
		if !json.Valid(out) {
			t.Errorf("%s: no JSON", format)
		}
	case "flamegraph":
		in := xml.NewDecoder(bytes.NewReader(out))
		scripts := 0
		for {
			token, err := in.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if x, is := token.(xml.StartElement); is && x.Name.Local == "script" {
				scripts++
			}
		}
		if scripts > 1 {
			t.Errorf("%s: %d scripts", format, scripts)
		}
	default:
		if text := string(out); text != strings.Map(graphic, text) {
			t.Errorf("%s: characters that nobody sees", format)
		}
	}
}

// graphic drops characters that steer a terminal.
func graphic(c rune) rune {
	if c != '\n' && !unicode.IsGraphic(c) {
		return -1
	}
	return c
}
