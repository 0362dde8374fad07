package show

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/internal/count"
)

// languageFrame prints `handle at /srv/app.py:42 [python]`, or, with its arguments, `handle
// (request='r') at /srv/app.py:42 [python]`.
func (p *textPrinter) languageFrame(f *report.Frame) {
	p.styled(yellow, f.Function)
	if f.HasArguments {
		p.Text(" (")
		p.Bytes(f.Arguments)
		p.Byte(')')
	}
	if f.File != "" {
		p.Text(" at ")
		p.begin(green)
		p.Text(p.file(f))
		if f.Line > 0 {
			p.Byte(':')
			p.Number(uint64(f.Line))
			if f.Column > 0 {
				p.Byte(':')
				p.Number(uint64(f.Column))
			}
		}
		p.plain()
	}
	mark := f.Language
	if f.Kind != "" {
		mark += ", " + f.Kind
	}
	p.styled(faint, " ["+mark+"]")
}

// decorator prints who has hidden or named a physical frame, or has put a language's there.
func (p *textPrinter) decorator(f *report.Frame) {
	text := ""
	switch {
	case f.Type == report.Language:
		text = f.Language + " has this frame in the place of frame " + strconv.Itoa(f.Level)
		if f.Instead != "" {
			text += ", " + f.Instead
		}
		if f.Place != nil {
			text += fmt.Sprintf(": what lies at %#x tells it", f.Place.V)
		}
	case f.Hidden:
		text = f.DecoratedBy + ": the frame is the run time's own"
	case f.DecoratedBy != "":
		text = "decorated by " + f.DecoratedBy
	default:
		return
	}
	p.styled(faint, "      "+text)
	p.Byte('\n')
}

// told prints what languages know of a thread, below its heading, once:
//
//	python: "worker-1", has the GIL
//	python: waits for the lock 0x7f…, held by thread 4243
func (p *textPrinter) told(list []waits.Told) {
	if p.toldAlready {
		return
	}
	p.toldAlready = true
	for i := range list {
		t := &list[i]
		if about := t.About(p.threadName); about != "" {
			p.toldLine(t, about)
		}
		for _, line := range t.Lines(false) {
			p.toldLine(t, line)
		}
	}
}

func (p *textPrinter) toldLine(t *waits.Told, line string) {
	p.MakeRoom()
	p.Text("  " + t.Language + ": " + line)
	p.Byte('\n')
}

// holds prints the locks that a frame has.
func (p *textPrinter) holds(f *report.Frame) {
	for i := range f.Holds {
		p.Text("      holds " + f.Holds[i].String())
		p.Byte('\n')
	}
}

// toldSum is what languages know of the threads of one stack.
type toldSum struct {
	names map[string][]string // what the threads are called, by language
	lines []string            // what else is known, in the order of the first threads
	count map[string]int      // of threads, by line
}

// mostToldLines bounds the different lines that are kept of one stack.
const mostToldLines = 1 << 12

// add adds a thread.
func (s *toldSum) add(list []waits.Told) {
	for i := range list {
		t := &list[i]
		if s.count == nil {
			s.names, s.count = map[string][]string{}, map[string]int{}
		}
		if names := s.names[t.Language]; t.Name != "" && len(names) <= namedThreads && !slices.Contains(names, t.Name) {
			s.names[t.Language] = append(names, t.Name)
		}
		lines := t.Lines(true)
		if state := t.Does(); state != "" {
			lines = append([]string{state}, lines...)
		}
		for _, line := range lines {
			line = t.Language + ": " + line
			if s.count[line]++; s.count[line] == 1 && len(s.lines) < mostToldLines {
				s.lines = append(s.lines, line)
			}
		}
	}
}

// toldAll prints what languages know of the threads of a stack: their names, and what most of them
// do and wait for.
//
//	python: "worker-1", "worker-2"
//	python: waits for the lock 0x7f…, held by thread 4243 (2 threads)
func (p *textPrinter) toldAll(d *report.Document, g *group) {
	noun := "thread"
	if d.Rounds > 1 {
		noun = "sample"
	}
	for _, language := range slices.Sorted(maps.Keys(g.told.names)) {
		names := g.told.names[language]
		if len(names) == 1 && names[0] == g.first.Name {
			continue
		}
		var quoted []string
		for _, name := range names[:min(namedThreads, len(names))] {
			quoted = append(quoted, strconv.Quote(name))
		}
		text := "  " + language + ": " + strings.Join(quoted, ", ")
		if len(names) > namedThreads {
			text += " and more"
		}
		p.Text(text)
		p.Byte('\n')
	}
	lines, most := slices.Clone(g.told.lines), 6
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(g.told.count[b], g.told.count[a]) })
	for _, line := range lines[:min(most, len(lines))] {
		p.MakeRoom()
		p.Text("  " + line)
		if n := g.told.count[line]; n < g.Count {
			p.styled(faint, " ("+count.Of(n, noun)+")")
		}
		p.Byte('\n')
	}
	if more := len(lines) - most; more > 0 {
		p.styled(faint, fmt.Sprintf("  and %s more about threads (--json has all)", count.Of(more, "line")))
		p.Byte('\n')
	}
}
