package report

import (
	"fmt"
	"strings"
)

// A Section is the results of one part of the bench.
type Section struct {
	Part     string // its name: a word
	Title    string
	Commands []string // that measure it, each as typed
	Versions []string // of what was measured, each `name version`
	Text     string   // before the tables: Markdown
	Tables   []Table
	After    string // notes on the tables: Markdown
	Goals    []Goal
	Files    map[string][]byte // beside the document, by name
}

// A Table has as many cells in each row as in Head.
type Table struct {
	Caption string // may be empty
	Head    []string
	Rows    [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// String returns the table in Markdown.
func (t *Table) String() string {
	var b strings.Builder
	if t.Caption != "" {
		b.WriteString(t.Caption + "\n\n")
	}
	rule := make([]string, len(t.Head))
	for i := range rule {
		rule[i] = "---"
	}
	for _, row := range append([][]string{t.Head, rule}, t.Rows...) {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}

// A Goal is a ratio to reach: Ours to Theirs, both in the same unit. It has a largest or a smallest
// one.
type Goal struct {
	What         string // `warm, depth 30, DWARF rows`
	Peer         string // the peer of Theirs
	Ours, Theirs Value
	Most         float64 // the largest ratio that meets the goal; 0 if Least counts
	Least        float64 // the smallest one
	Missing      string  // why there is no ratio; "" if it was measured
}

var goalHead = []string{"part", "what", "sfwalk", "against", "", "ratio", "at most", ""}

// missing says why there is no ratio; "" if there is one.
func (g *Goal) missing() string {
	if g.Missing == "" && (!(g.Ours.Number > 0) || !(g.Theirs.Number > 0)) {
		return "a measurement has no result"
	}
	return g.Missing
}

// Met reports whether the goal was reached.
func (g *Goal) Met() bool {
	if g.missing() != "" {
		return false
	}
	return g.Most > 0 && g.ratio() <= g.Most || g.Most == 0 && g.ratio() >= g.Least
}

// bound says which ratios meet the goal, below "at most".
func (g *Goal) bound() string {
	if g.Most > 0 {
		return fmt.Sprint(g.Most)
	}
	return fmt.Sprintf("at least %v", g.Least)
}

func (g *Goal) ratio() float64 { return g.Ours.Number / g.Theirs.Number }

// ratioText formats the ratio with at least two digits.
func (g *Goal) ratioText() string {
	if r := g.ratio(); r < 0.1 {
		return fmt.Sprintf("%.2g", r)
	}
	return fmt.Sprintf("%.2f", g.ratio())
}

func (g *Goal) row(part string) []string {
	if why := g.missing(); why != "" {
		why, _, _ = strings.Cut(why, "\n")
		return []string{part, g.What, "", g.Peer, "", "", g.bound(), "not measured: " + strings.TrimPrefix(why, "not measured: ")}
	}
	verdict := "**missed**"
	if g.Met() {
		verdict = "met"
	}
	return []string{part, g.What, g.Ours.String(), g.Peer, g.Theirs.String(), g.ratioText(), g.bound(), verdict}
}

// Body returns the section in Markdown.
func (s *Section) Body(machine string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n", s.Title, s.Text)
	for i := range s.Tables {
		b.WriteString("\n" + s.Tables[i].String())
	}
	if s.After != "" {
		b.WriteString("\n" + s.After + "\n")
	}
	b.WriteString("\nMeasured on " + machine + ".\n")
	if len(s.Versions) > 0 {
		b.WriteString(strings.Join(s.Versions, "; ") + ".\n")
	}
	b.WriteString("\n```\n" + strings.Join(s.Commands, "\n") + "\n```\n")
	return b.String()
}
