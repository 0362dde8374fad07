//go:build linux

package llvm

import "strings"

// Lines counts the frames that have a line.
func Lines(answers [][]Frame) (n int) {
	for _, frames := range answers {
		for _, f := range frames {
			if f.Line > 0 {
				n++
			}
		}
	}
	return n
}

// Differences counts the addresses of each kind of difference. An address counts once, as the first
// kind that it is of.
type Differences struct {
	Addresses int   // that were compared
	None      int   // no line, and llvm-symbolizer has one
	Chain     int   // other inlined calls: more, or fewer
	Name      int   // another function
	File      int   // another file or line
	Shown     []int // indexes of the first few addresses with a difference
}

// All returns the number of addresses with a difference.
func (d *Differences) All() int { return d.None + d.Chain + d.Name + d.File }

// most bounds Differences.Shown.
const most = 16

// Compare compares answers with llvm-symbolizer's, whose names are short ones ([Short]). It leaves
// out the addresses for which llvm-symbolizer knows no function. mayBe reports whether ours may be
// the place of the innermost frame of an address, though llvm-symbolizer has another one; nil for
// never.
func Compare(ours, theirs [][]Frame, mayBe func(i int, f Frame) bool) (d Differences) {
	for i := range min(len(ours), len(theirs)) {
		us, them := ours[i], theirs[i]
		if len(them) == 0 || them[0].Function == "" {
			continue
		}
		d.Addresses++
		kind := differ(us, them, func(f Frame) bool { return mayBe != nil && mayBe(i, f) })
		switch kind {
		case same:
			continue
		case none:
			d.None++
		case chain:
			d.Chain++
		case name:
			d.Name++
		case file:
			d.File++
		}
		if len(d.Shown) < most {
			d.Shown = append(d.Shown, i)
		}
	}
	return d
}

// kind is in what two answers differ.
type kind uint8

const (
	same kind = iota
	none
	chain
	name
	file
)

func differ(us, them []Frame, mayBe func(Frame) bool) kind {
	if them[0].Line > 0 && (len(us) == 0 || us[0].Line == 0) {
		return none
	}
	if len(us) != len(them) {
		return chain
	}
	for k := range us {
		if !named(us[k].Function, them[k].Function) {
			return name
		}
	}
	for k := range us {
		if us[k].File == them[k].File && us[k].Line == them[k].Line || k == 0 && mayBe(us[k]) {
			continue
		}
		return file
	}
	return same
}

// named reports whether a name with its scopes, as package symbol spells it, may be the name of a
// function whose short name is known. Compilers and demanglers spell the arguments of templates in
// many ways: the arguments are not compared.
func named(whole, short string) bool {
	base, last := plain(short), plain(whole)
	// The brackets of a name with an operator in it may be the operator's.
	return base == "" || last == base || last == "" && strings.Contains(whole, "::"+base) ||
		plain(scopes(whole)) == base // a constructor that is inherited, which GDB calls by the base class
}

// scopes returns the scopes of a name: what is before the last colons that are in no brackets.
func scopes(name string) string {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case '>', ')', '}', ']':
			depth++
		case '<', '(', '{', '[':
			depth--
		case ':':
			if depth == 0 {
				return name[:i-1]
			}
		}
	}
	return ""
}

// plain returns the last identifier of a name, without what is in brackets; "" for an operator, or
// a function without a name.
func plain(name string) string {
	if strings.Contains(name, "operator") || strings.HasPrefix(name, "<") {
		return ""
	}
	depth, start := 0, 0
	end := len(name)
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '<', '(', '{', '[':
			if depth == 0 {
				end = min(end, i)
			}
			depth++
		case '>', ')', '}', ']':
			depth--
		case ':':
			if depth == 0 {
				start, end = i+1, len(name)
			}
		case ' ': // behind a type
			if depth == 0 && end == len(name) {
				start = i + 1
			}
		}
	}
	return name[start:max(start, end)]
}
