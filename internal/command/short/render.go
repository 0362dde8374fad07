package short

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// render writes a list. Of lists that are more than depth deep in others, "…" stands for what they
// hold.
func render(b *strings.Builder, list []token, depth int) {
	for i := range list {
		t := &list[i]
		if t.open == 0 {
			b.WriteString(t.text)
			continue
		}
		b.WriteByte(t.open)
		inner := depth - 1
		if t.open == '{' { // a closure's parameters, or its number
			inner = depth
		}
		if inner < 0 && t.open != '[' && !t.brief() {
			b.WriteString("…")
		} else {
			for i, item := range t.items {
				if i > 0 {
					b.WriteString(", ")
				}
				render(b, item, inner)
			}
		}
		b.WriteByte(closing(t.open))
	}
}

// brief reports whether a list is as short as "…", or no list of arguments but part of a name:
// (anonymous namespace), <lambda(int)>.
func (t *token) brief() bool {
	if len(t.items) != 1 {
		return false
	}
	item := t.items[0]
	switch {
	case len(item) == 0:
		return true
	case t.open == '(' && item[0].text == "anonymous":
		return true
	case t.open == '<' && (item[0].text == "lambda" || item[0].text == "unnamed"):
		return true
	}
	return len(item) == 1 && item[0].open == 0 && len(item[0].text) < len("…")
}

func textOf(list []token, depth int) string {
	var b strings.Builder
	render(&b, list, depth)
	return b.String()
}

// wide is how many columns a name may take before arguments of its arguments are left out.
const wide = 100

// fits reports whether a name is short enough.
func fits(text string) bool { return utf8.RuneCountInString(text) <= wide }

// mostCut bounds the arguments that are left out one by one.
const mostCut = 32

// fitting returns the text of a name, with as many of the inner lists as fit.
func fitting(list []token) string {
	text := textOf(list, maxDepth+1)
	if fits(text) {
		return text
	}
	if n := parameters(list); n >= 0 { // the function's own parameters tell less than what it is made of
		list = append([]token{}, list...)
		list[n] = token{open: '(', items: [][]token{{{text: "…"}}}}
		if text = textOf(list, maxDepth+1); fits(text) {
			return text
		}
	}
	for depth := 5; depth >= 0; depth-- {
		shallow := textOf(list, depth)
		if !fits(shallow) {
			continue
		}
		// With all lists one deeper, it does not fit: leave out the longest of these.
		all := listsAt(list, depth, nil)
		slices.SortStableFunc(all, func(a, b *token) int {
			return cmp.Compare(len(textOf(b.of(), maxDepth+1)), len(textOf(a.of(), maxDepth+1)))
		})
		left := mostCut
		for _, t := range all {
			kept := t.items
			defer func() { t.items = kept }()
			for n := min(len(kept)-1, left); n >= 0 && left > 0; n-- { // the last arguments go first
				t.items = append(kept[:n:n], []token{{text: "…"}})
				if text = textOf(list, depth+1); fits(text) {
					return text
				}
				left--
			}
		}
		return shallow
	}
	return textOf(list, 0)
}

// of returns a list that holds t alone.
func (t *token) of() []token { return []token{*t} }

// listsAt appends the lists that are that deep in others.
func listsAt(list []token, depth int, all []*token) []*token {
	for i := range list {
		t := &list[i]
		switch {
		case t.open == 0:
		case t.open != '{' && depth == 0:
			if !t.brief() {
				all = append(all, t)
			}
		default:
			inner := depth - 1
			if t.open == '{' {
				inner = depth
			}
			for _, item := range t.items {
				all = listsAt(item, inner, all)
			}
		}
	}
	return all
}
