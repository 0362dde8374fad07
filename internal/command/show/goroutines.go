package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/count"
)

// goroutines prints the first line of a goroutine's stack, or of equal ones.
func (p *textPrinter) goroutines(d *report.Document, g *group) {
	first := g.first.Goroutine
	state := first.State(false)
	switch {
	case g.most >= 1 && g.least == g.most:
		state += ", " + count.Of(g.most, "minute")
	case g.most >= 1:
		state += fmt.Sprintf(", %d to %d minutes", g.least, g.most)
	}
	if g.Count == 1 {
		p.styled(bold, fmt.Sprintf("Goroutine %d [%s]", first.Number, state))
		p.Text(first.OfRuntime())
		if first.TID != 0 {
			p.Text(fmt.Sprintf(" on thread %d", first.TID))
		}
		if first.Died {
			p.died(d)
		}
		p.Byte('\n')
		p.labels(first.Labels)
		p.objects(d, g)
		return
	}
	list := g.Goroutines
	if d.Rounds > 1 {
		list = once(list, func(number uint64) uint64 { return number })
		p.styled(bold, count.Of(g.Count, "sample")+" of ")
	}
	p.styled(bold, fmt.Sprintf("%s [%s]", count.Of(len(list), "goroutine"), state))
	p.Text(first.OfRuntime() + ": ")
	for i, number := range list[:min(namedThreads, len(list))] {
		if i > 0 {
			p.Text(", ")
		}
		p.Number(number)
	}
	if more := len(list) - namedThreads; more > 0 {
		p.Text(fmt.Sprintf(" and %d more", more))
	}
	p.Byte('\n')
	p.labels(first.Labels)
	p.objects(d, g)
}

// labels prints the line of a goroutine's labels, if it has some.
func (p *textPrinter) labels(s goroutines.Labels) {
	if len(s) > 0 {
		p.Text("  labels: " + s.String())
		p.Byte('\n')
	}
}

// creator prints which go statement has made a goroutine, as Go's own tracebacks do.
func (p *textPrinter) creator(g *group) {
	c := g.first.Goroutine.Created
	if c == nil {
		return
	}
	p.Text("created by ")
	p.styled(yellow, c.Function)
	if g.creator != 0 {
		p.Text(fmt.Sprintf(" in goroutine %d", g.creator))
	}
	if c.File != "" {
		p.Text(" at ")
		p.styled(green, fmt.Sprintf("%s:%d", c.File, c.Line))
	}
	p.Byte('\n')
}

// namedObjects is how many objects of a group the text names before it counts the rest.
const namedObjects = 4

// objectCounts counts the goroutines of a group that wait for an object.
type objectCounts struct {
	of   map[*goroutines.Object]int
	list []*goroutines.Object // in the order of the first goroutines
}

// add adds what a goroutine waits for.
func (c *objectCounts) add(waits []*goroutines.Object) {
	for _, e := range waits {
		if c.of == nil {
			c.of = map[*goroutines.Object]int{}
		}
		if c.of[e]++; c.of[e] == 1 {
			c.list = append(c.list, e)
		}
	}
}

// objects prints what goroutines of a group wait for, what most wait for first.
func (p *textPrinter) objects(d *report.Document, g *group) {
	counts, list := g.objects.of, slices.Clone(g.objects.list)
	if len(list) == 0 || d.Rounds > 1 {
		return // of added rounds, they may be others in each
	}
	slices.SortStableFunc(list, func(a, b *goroutines.Object) int { return cmp.Compare(counts[b], counts[a]) })
	verb := "wait"
	if g.Count == 1 {
		verb = "waits"
	}
	for i, e := range list[:min(namedObjects, len(list))] {
		many := ""
		if n := counts[e]; i > 0 || n < g.Count {
			many = fmt.Sprintf("%d: ", n)
		}
		if g.Count == 1 {
			many = ""
		}
		p.Text(fmt.Sprintf("  %s%s %s: %s", many, verb, e.What(), e.State()))
		p.Byte('\n')
	}
	if more := len(list) - namedObjects; more > 0 {
		p.Text(fmt.Sprintf("  and for %d more", more))
		p.Byte('\n')
	}
}

// Asleep prints that all goroutines wait.
func (p *textPrinter) asleep(a *goroutines.Asleep) {
	if a == nil {
		return
	}
	p.Byte('\n')
	p.styled(red, "all goroutines are asleep")
	p.Text(fmt.Sprintf(": the program's %d wait for each other, and for no timer, file or system call", a.Goroutines))
	var unless []string
	if a.Signals {
		unless = append(unless, "a signal comes, for which one waits (os/signal)")
	}
	switch {
	case a.Threads == 1:
		unless = append(unless, "a thread that is not Go's calls Go")
	case a.Threads > 1:
		unless = append(unless, fmt.Sprintf("one of %d threads that are not Go's calls Go", a.Threads))
	}
	if len(unless) > 0 {
		p.Text("; none can go on unless " + strings.Join(unless, ", or "))
	}
	p.Byte('\n')
}
