package waits

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/internal/count"
)

// Sum is for what the threads of one stack wait.
type Sum struct {
	threads int
	known   int                 // how many of them wait for anything known
	full    map[string]*counted // by the words of each
	short   map[string]*counted // by the words that several share
}

// counted are threads that wait for what has the same words.
type counted struct {
	of    *Entry // of the first
	all   bool   // the words are the whole ones
	n     int
	first int // counts the threads up to the first
}

// mostTexts bounds the different texts that are kept.
const mostTexts = 1 << 12

// Add adds a thread. e is nil for one that does not wait, or not for anything known.
func (s *Sum) Add(e *Entry) {
	s.threads++
	if !e.Known() {
		return
	}
	if s.known++; s.full == nil {
		s.full, s.short = map[string]*counted{}, map[string]*counted{}
	}
	s.count(s.full, e, true)
	s.count(s.short, e, false)
}

func (s *Sum) count(in map[string]*counted, e *Entry, all bool) {
	text := e.words(all, plural)
	x := in[text]
	if x == nil {
		if len(in) >= mostTexts {
			return
		}
		x = &counted{of: e, all: all, first: s.threads}
		in[text] = x
	}
	x.n++
}

// The verbs of one thread, and of several.
func singular(verb string) string { return verb + "s" }
func plural(verb string) string   { return verb }

// Lines returns for what the threads wait, in at most five lines: "12 threads wait to read: TCP
// socket to 10.0.0.2:5432". What is the same for all has no number. noun is what was added; one
// says that all that was added is one thread's.
func (s *Sum) Lines(noun string, one bool) (lines []string) {
	const most = 4
	from := s.full
	if len(from) > most {
		from = s.short
	}
	list := make([]*counted, 0, len(from))
	for _, x := range from {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *counted) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.first, b.first)) })
	rest := s.known
	for _, x := range list[:min(most, len(list))] {
		rest -= x.n
		switch {
		case x.n == s.threads && (one || x.n == 1):
			lines = append(lines, x.of.words(x.all, singular))
		case x.n == s.threads:
			lines = append(lines, x.of.words(x.all, plural))
		case x.n == 1:
			lines = append(lines, count.Of(x.n, noun)+" "+x.of.words(x.all, singular))
		default:
			lines = append(lines, count.Of(x.n, noun)+" "+x.of.words(x.all, plural))
		}
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("and %d for other things", rest))
	}
	return lines
}
