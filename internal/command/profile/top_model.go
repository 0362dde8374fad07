package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
)

// recently is how many of the last rounds the shares are of.
const recently = 5

// topModel is what top shows, and what its keys change. It knows no terminal.
type topModel struct {
	pids []int  // that are recorded; empty for all
	name string // of the process, if there is one alone; "" if it is not known
	unit string // of what is counted: nanoseconds, or others
	wall bool   // threads that wait count, too

	rounds  []round // the last ones, the newest last
	since   map[string]weight
	threads map[string]weight
	stats   record.Stats
	lasted  time.Duration
	ended   bool // nothing more will come
	paused  bool

	view     topView
	by       int      // the column that sorts, from 0
	at       int      // the selected line
	selected string   // what it has
	follow   bool     // the user has selected it: the line follows it when the order changes
	scroll   int      // lines above the screen
	from     topView  // the view that the stacks were opened from
	of       string   // the function or thread of the stacks that are shown
	shown    []string // what the lines of the table had when it was drawn last
	lines    int      // that the view had then
	room     int      // lines of the screen for it
}

type topView uint8

const (
	viewFunctions topView = iota
	viewThreads
	viewStacks
)

// round is what has come between two moments.
type round struct {
	stacks  *picture.Stacks
	lasted  time.Duration
	funcs   map[string]weight
	threads map[string]weight
	samples int64
}

// weight is how much of the samples, and of what is counted, a function or a thread has.
type weight struct {
	own, total           int64 // samples: in it, and in what it has called, too
	ownValue, totalValue int64
}

func (w weight) plus(x weight) weight {
	return weight{w.own + x.own, w.total + x.total, w.ownValue + x.ownValue, w.totalValue + x.totalValue}
}

func newTopModel(pids []int, unit string, wall bool) *topModel {
	return &topModel{pids: pids, unit: unit, wall: wall, since: map[string]weight{}, threads: map[string]weight{}}
}

// add takes in what has come in a round.
func (m *topModel) add(stacks *picture.Stacks, lasted time.Duration, stats record.Stats) {
	r := round{stacks: stacks, lasted: lasted, funcs: map[string]weight{}, threads: map[string]weight{}}
	seen := map[string]bool{}
	for i := range stacks.Samples {
		s := &stacks.Samples[i]
		n, value := s.Values[0], s.Values[len(s.Values)-1]
		r.samples += n
		clear(seen)
		for depth, f := range s.Frames {
			name := stacks.Places[f].Shown()
			if seen[name] || strings.HasPrefix(name, "[") && depth > 0 { // a mark is no function
				continue
			}
			seen[name] = true
			w := weight{total: n, totalValue: value}
			if depth == 0 {
				w.own, w.ownValue = n, value
			}
			r.funcs[name] = r.funcs[name].plus(w)
		}
		name := sampledThread(s)
		r.threads[name] = r.threads[name].plus(weight{n, n, value, value})
	}
	for name, w := range r.funcs {
		m.since[name] = m.since[name].plus(w)
	}
	for name, w := range r.threads {
		m.threads[name] = m.threads[name].plus(w)
	}
	m.stats, m.lasted = stats, m.lasted+lasted
	if m.rounds = append(m.rounds, r); len(m.rounds) > recently {
		m.rounds = m.rounds[1:]
	}
}

// sampledThread returns the name of a sample's thread.
func sampledThread(s *picture.Sample) string {
	var tid int64
	for _, n := range s.Numbers {
		if n.Key == "tid" {
			tid = n.Value
		}
	}
	name := fmt.Sprint(tid)
	for _, x := range s.Texts {
		if x.Key == "thread" {
			name = x.Value + " " + name
		}
	}
	if s.Root != "" {
		name = s.Root + " " + name
	}
	return name
}

// topRow is a line of a table.
type topRow struct {
	name          string
	recent, since weight
}

// rows returns the lines of the table that is shown, in their order.
func (m *topModel) rows() (list []topRow, samples int64) {
	recent, since := map[string]weight{}, m.since
	if m.view == viewThreads {
		since = m.threads
	}
	for i := range m.rounds {
		of := m.rounds[i].funcs
		if m.view == viewThreads {
			of = m.rounds[i].threads
		}
		for name, w := range of {
			recent[name] = recent[name].plus(w)
		}
		samples += m.rounds[i].samples
	}
	for _, name := range slices.Sorted(maps.Keys(since)) {
		list = append(list, topRow{name, recent[name], since[name]})
	}
	column := [...]func(*topRow) int64{
		func(r *topRow) int64 { return r.recent.own }, func(r *topRow) int64 { return r.recent.total },
		func(r *topRow) int64 { return r.since.ownValue }, func(r *topRow) int64 { return r.since.totalValue },
	}[m.by]
	slices.SortStableFunc(list, func(a, b topRow) int {
		return cmp.Or(cmp.Compare(column(&b), column(&a)), cmp.Compare(b.recent.total, a.recent.total), cmp.Compare(b.since.ownValue, a.since.ownValue))
	})
	return list, samples
}

// amount writes a value of what is counted.
func (m *topModel) amount(n int64) string {
	if m.unit != "nanoseconds" {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.2fs", time.Duration(n).Seconds())
}

// draw returns the lines of a screen with height lines.
func (m *topModel) draw(height int) []Line {
	var samples, value int64
	var lasted time.Duration
	for i := range m.rounds {
		samples += m.rounds[i].samples
		lasted += m.rounds[i].lasted
		for _, w := range m.rounds[i].threads {
			value += w.ownValue
		}
	}
	state := ""
	switch {
	case m.ended:
		state = "   it has ended"
	case m.paused:
		state = "   paused"
	}
	what := "all processes"
	if len(m.pids) > 0 {
		what = strings.Trim(fmt.Sprint(m.pids), "[]")
	}
	if m.name != "" {
		what += " (" + m.name + ")"
	}
	head := fmt.Sprintf("top of %s   %.0f s   %s", what, m.lasted.Seconds(), count.Of(m.stats.Samples, "sample"))
	if m.unit == "nanoseconds" && !m.wall && lasted > 0 {
		head += fmt.Sprintf("   %.0f%% of a processor", 100*float64(value)/float64(lasted))
	}
	if m.stats.Lost > 0 {
		head += fmt.Sprintf("   %d lost", m.stats.Lost)
	}
	if n := m.stats.Cut + m.stats.Stopped; n > 0 {
		head += fmt.Sprintf("   %s %s not whole", count.Of(n, "stack"), count.Verb(n, "is", "are"))
	}
	lines := []Line{{Text: head + state}}
	m.room = max(1, height-4)
	var body []Line
	if m.view == viewStacks {
		body = m.stacks()
		lines = append(lines, Line{}, Line{Text: "The stacks with " + m.of, Style: Heading})
	} else {
		lines = append(lines, Line{}, Line{Text: m.heading(), Style: Heading})
		list, of := m.rows()
		if i := slices.IndexFunc(list, func(r topRow) bool { return r.name == m.selected }); i >= 0 && m.follow {
			m.at = i
		}
		m.at = max(0, min(m.at, len(list)-1))
		m.shown = m.shown[:0]
		for i := range list {
			r := &list[i]
			m.shown = append(m.shown, r.name)
			if i == m.at {
				m.selected = r.name
			}
			share := func(n int64) float64 { return 100 * float64(n) / float64(max(1, of)) }
			body = append(body, Line{Text: fmt.Sprintf("%6.1f%% %6.1f%% %10s %10s  %s", share(r.recent.own), share(r.recent.total), m.amount(r.since.ownValue), m.amount(r.since.totalValue), r.name)})
		}
		if len(body) > 0 {
			body[m.at].Style = Selected
			m.scroll = max(m.at-m.room+1, min(m.scroll, m.at))
		}
	}
	m.lines = len(body)
	m.scroll = max(0, min(m.scroll, m.lines-m.room))
	for i := range m.room {
		if m.scroll+i < m.lines {
			lines = append(lines, body[m.scroll+i])
		} else {
			lines = append(lines, Line{})
		}
	}
	return append(lines, Line{Text: m.keys(), Style: Dim})
}

func (m *topModel) heading() string {
	names := []string{"OWN", "TOTAL", "OWN TIME", "TOTAL TIME"}
	if m.unit != "nanoseconds" {
		names[2], names[3] = "OWN", "TOTAL"
	}
	names[m.by] += "▼"
	what := "FUNCTION"
	if m.view == viewThreads {
		what = "THREAD"
	}
	return fmt.Sprintf("%7s %7s %10s %10s  %s", names[0], names[1], names[2], names[3], what)
}

func (m *topModel) keys() string {
	if m.view == viewStacks {
		return "↑↓ scroll   esc back   space pause   q quit"
	}
	other := "threads"
	if m.view == viewThreads {
		other = "functions"
	}
	return "↑↓ select   enter stacks   1-4 or ←→ sort   t " + other + "   space pause   r reset   q quit"
}

// maxStacks bounds the stacks that are shown at once.
const maxStacks = 100

// stacks returns the stacks of the last rounds that have a function, or are of a thread, those with
// the most samples first.
func (m *topModel) stacks() (lines []Line) {
	type found struct {
		frames []string
		weight int64
	}
	byText := map[string]*found{}
	var all int64
	for i := range m.rounds {
		stacks := m.rounds[i].stacks
		all += m.rounds[i].samples
		for j := range stacks.Samples {
			s := &stacks.Samples[j]
			var frames []string
			has := sampledThread(s) == m.of
			for _, f := range s.Frames {
				p := &stacks.Places[f]
				has = has || p.Shown() == m.of
				text := p.Shown()
				if p.File != "" {
					text += fmt.Sprintf(" at %s:%d", p.File, p.Line)
				}
				frames = append(frames, text)
			}
			if !has {
				continue
			}
			key := strings.Join(frames, "\n")
			if byText[key] == nil {
				byText[key] = &found{frames: frames}
			}
			byText[key].weight += s.Values[0]
		}
	}
	keys := slices.SortedFunc(maps.Keys(byText), func(a, b string) int {
		return cmp.Or(cmp.Compare(byText[b].weight, byText[a].weight), cmp.Compare(a, b))
	})
	for _, key := range keys[:min(len(keys), maxStacks)] {
		x := byText[key]
		lines = append(lines, Line{Text: fmt.Sprintf("%.1f%%, %s", 100*float64(x.weight)/float64(max(1, all)), count.Of(x.weight, "sample")), Style: Selected})
		for depth, f := range x.frames {
			lines = append(lines, Line{Text: fmt.Sprintf("#%-2d %s", depth, f)})
		}
	}
	if len(lines) == 0 {
		lines = []Line{{Text: "none of late", Style: Dim}}
	}
	return lines
}

// key takes a key. It reports whether that is the end.
func (m *topModel) key(key string) (end bool) {
	move := 0
	switch key {
	case "q", "Q", "ctrl-c":
		return true
	case "esc", "backspace":
		if m.view == viewStacks {
			m.show(m.from, m.of)
		}
	case "enter":
		if m.view != viewStacks && m.selected != "" {
			m.from, m.of = m.view, m.selected
			m.show(viewStacks, "")
		}
	case "t":
		if m.view == viewFunctions {
			m.show(viewThreads, "")
		} else {
			m.show(viewFunctions, "")
		}
	case "1", "2", "3", "4":
		m.sort(int(key[0] - '1'))
	case "left":
		m.sort(m.by - 1)
	case "right":
		m.sort(m.by + 1)
	case " ", "p":
		m.paused = !m.paused
	case "r":
		clear(m.since)
		clear(m.threads)
		m.rounds = nil
	case "up", "k":
		move = -1
	case "down", "j":
		move = 1
	case "pgup":
		move = -m.room
	case "pgdn":
		move = m.room
	case "home":
		move = -m.lines
	case "end":
		move = m.lines
	}
	if m.view == viewStacks {
		m.scroll += move
	} else if move != 0 {
		m.at = max(0, min(m.at+move, m.lines-1))
		if m.follow = m.at < len(m.shown); m.follow {
			m.selected = m.shown[m.at]
		}
	}
	return false
}

// sort has a column sort, and selects the first line.
func (m *topModel) sort(by int) {
	if m.view != viewStacks {
		m.by, m.at, m.follow = max(0, min(by, 3)), 0, false
	}
}

// show changes to another view.
func (m *topModel) show(view topView, selected string) {
	m.view, m.selected, m.follow, m.at, m.scroll = view, selected, selected != "", 0, 0
}
