package gdbtest

import (
	"fmt"
	"slices"
	"strings"
)

// A FullComparison says how far two texts of all variables agree.
type FullComparison struct {
	Frames, Values, Equal int
	// Reordered is how many frames have the same locals in another order.
	Reordered   int
	ReorderedIn []string // their functions
	Different   []FullDifference
}

// A FullDifference is one variable that the texts have in different ways. What one of them has not
// is "(not there)".
type FullDifference struct {
	TID, Level     int
	Function, Name string
	Want, Got      string
	Instead        string // the function of the frame of this level that is compared, if it is another one
	Twice          bool   // gdb has two arguments of this name
	Namesake       bool   // what gdb has is the value of another argument of this name
	NamesakeLocal  bool   // what gdb has for an argument is the value of a local of this name
}

func (d FullDifference) String() string {
	same := 0
	for same < min(len(d.Got), len(d.Want)) && d.Got[same] == d.Want[same] {
		same++
	}
	function := d.Function
	if d.Instead != "" {
		function = d.Instead + " instead of " + function
	}
	return fmt.Sprintf("thread %d #%d %s: %s = %s\n\tgdb has %s", d.TID, d.Level, function, d.Name, about(d.Got, same), about(d.Want, same))
}

// about is the text around a byte.
func about(text string, at int) string {
	const before, after = 60, 200
	begin, ellipsis := at-before, "…"
	if begin <= 0 {
		begin, ellipsis = 0, ""
	}
	return ellipsis + text[begin:min(len(text), at+after)]
}

const notThere = "(not there)"

// CompareFull compares arguments and locals of all frames that have some in want, gdb's, by thread,
// level, name and turn. Blanks do not count.
func CompareFull(want, got []FullThread) *FullComparison {
	c := &FullComparison{}
	for _, w := range want {
		i := slices.IndexFunc(got, func(t FullThread) bool { return t.TID == w.TID })
		if i < 0 {
			c.Different = append(c.Different, FullDifference{TID: w.TID, Name: "(thread)", Want: "there", Got: notThere})
			continue
		}
		for n := range w.Frames {
			f, other := &w.Frames[n], &FullFrame{}
			if f.Args == "" && len(f.Locals) == 0 {
				continue
			}
			c.Frames++
			if n < len(got[i].Frames) {
				other = &got[i].Frames[n]
			}
			c.frame(w.TID, f, other)
		}
	}
	return c
}

func (c *FullComparison) frame(tid int, want, got *FullFrame) {
	first := len(c.Different)
	defer func() {
		for i := first; i < len(c.Different) && got.Function != want.Function; i++ {
			c.Different[i].Instead = got.Function
		}
	}()
	arguments := want.Arguments()
	c.variables(tid, want, arguments, got.Arguments())
	for i := first; i < len(c.Different); i++ {
		d, n := &c.Different[i], 0
		for _, v := range arguments {
			if v.Name == d.Name {
				n++
			}
		}
		d.Twice = n > 1
		alike := func(v FullLocal) bool { return v.Name == d.Name && normal(v.Text) == d.Want }
		d.Namesake = d.Twice && slices.ContainsFunc(got.Arguments(), alike)
		d.NamesakeLocal = slices.ContainsFunc(got.Locals, alike) && slices.ContainsFunc(want.Locals, alike)
	}
	if c.variables(tid, want, want.Locals, got.Locals) && !slices.EqualFunc(want.Locals, got.Locals, func(a, b FullLocal) bool { return a.Name == b.Name }) {
		c.Reordered++
		c.ReorderedIn = append(c.ReorderedIn, want.Function)
	}
}

// variables compares arguments or locals, and reports whether the names are the same.
func (c *FullComparison) variables(tid int, f *FullFrame, want, got []FullLocal) (same bool) {
	have := map[string][]string{} // by name: blocks may hide each other's
	for _, v := range got {
		have[v.Name] = append(have[v.Name], normal(v.Text))
	}
	left := map[string]int{}
	for _, v := range want {
		left[v.Name]++
	}
	same = true
	for _, v := range want {
		c.Values++
		wanted, text := normal(v.Text), notThere
		if list := have[v.Name]; len(list) > 0 {
			// If there are more than gdb has, the lines that it leaves out may be anywhere.
			i := max(0, slices.Index(list[:max(0, len(list)-left[v.Name])+1], wanted))
			for _, more := range list[:i] {
				same = false
				c.differ(tid, f, v.Name, notThere, more)
			}
			text, have[v.Name] = list[i], list[i+1:]
		} else {
			same = false
		}
		left[v.Name]--
		if wanted == text {
			c.Equal++
		} else {
			c.differ(tid, f, v.Name, wanted, text)
		}
	}
	for _, v := range got {
		for _, text := range have[v.Name] {
			same = false
			c.differ(tid, f, v.Name, notThere, text)
		}
		delete(have, v.Name)
	}
	return same
}

func (c *FullComparison) differ(tid int, f *FullFrame, name, want, got string) {
	c.Different = append(c.Different, FullDifference{TID: tid, Level: f.Level, Function: f.Function, Name: name, Want: want, Got: got})
}

// normal is text with one blank for each white space.
func normal(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
