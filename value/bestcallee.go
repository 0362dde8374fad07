package value

import (
	"cmp"
	"slices"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/target"
)

// namesakes returns the functions that a called name may mean, by the debug information of C++. ok
// is false if the symbol alone says which function it is.
func (e *evaluation) namesakes(n *syntax.Node, s *Symbol) (to callee, ok bool, err error) {
	several := s != nil && s.Several
	if !several && e.f.Language != "c++" {
		return to, false, nil
	}
	var modules []*target.Module
	switch own := e.module(); {
	case several || s == nil:
		modules = e.modules()
	case own != nil:
		modules = append(modules, own)
	}
	text, global := strings.CutPrefix(n.Text, "::")
	to.among = e.namedSo(text, global, modules)
	coded, one := 0, candidate{}
	for _, set := range to.among {
		for _, c := range set {
			if c.code {
				one = c
				coded++
			}
		}
	}
	switch {
	case several && s.Addr == 0 && coded == 0:
		return to, false, e.fail(n.At, "several functions are called %s, and no debug information tells what they take:"+
			" use the linker's name of one of them, as nm shows it", n.Text)
	case coded == 0, coded == 1 && s != nil && !several && s.Addr == one.function.Addr && !e.byArguments(n):
		return callee{}, false, nil
	}
	if several && s.Addr != 0 {
		if t := e.functionType(s.Addr); t != nil {
			last := &to.among[len(to.among)-1]
			*last = joined(*last, []candidate{e.candidate(e.at(t, s.Addr), true)})
		} else {
			to.Symbol = *s
		}
	}
	return to, true, nil
}

// namedSo returns the functions that a name may mean, by scope, the innermost one first. What is
// lent to a scope counts as the outermost one's.
func (e *evaluation) namedSo(text string, global bool, modules []*target.Module) (sets [][]candidate) {
	scopes := e.scopesOf(global)
	var last []candidate
	for _, full := range e.wholeNames(text, global) {
		list := e.functions(full, modules)
		switch {
		case len(list) == 0:
		case full != text && slices.Contains(scopes, strings.TrimSuffix(full, text)):
			sets = append(sets, list)
		default:
			last = joined(last, list)
		}
	}
	if last != nil {
		sets = append(sets, last)
	}
	return sets
}

// byArguments reports whether the arguments of a call may tell in which namespace a name is.
func (e *evaluation) byArguments(n *syntax.Node) bool {
	return e.f.Language == "c++" && n.Kind == syntax.Name && !n.Overload && n.File == "" && !strings.Contains(n.Text, "::") &&
		!strings.HasPrefix(n.Text, "$") && e.local(n.Text) == nil
}

// lentByArguments returns the functions of a name in the namespaces of the arguments' types (C++20,
// [basic.lookup.argdep]).
func (e *evaluation) lentByArguments(name string, given []Value) (list []candidate) {
	for i := range given {
		t := given[i].Type.Strip()
		for range maxNames {
			if t.Kind != Pointer && t.Kind != Array {
				break
			}
			t = t.Elem().Strip()
		}
		if t.Kind != Struct && t.Kind != Union && t.Kind != Enum {
			continue
		}
		if scope, _ := splitName(t.FullName()); scope != "" {
			list = joined(list, e.functions(scope+name, e.modules()))
		}
	}
	return list
}

// chosen returns the function that fits the arguments of a call best. err says why the name means
// none without them.
func (e *evaluation) chosen(to callee, n *syntax.Node, given []Value, err error) (callee, error) {
	of := n.Args[0]
	var lent []candidate
	if to.object == nil && e.byArguments(of) {
		lent = e.lentByArguments(of.Text, given)
	}
	sets := to.among
	if sets == nil {
		if lent == nil {
			return to, err
		}
		sets = [][]candidate{nil}
	}
	var all []candidate
	for _, set := range sets {
		set = joined(slices.Clone(set), lent)
		all = joined(all, set)
		best, ok, err := e.best(set, to.object, given, of)
		switch {
		case err != nil:
			return to, err
		case !ok:
		case to.object != nil:
			return e.boundMethod(to.object, &best.function, of)
		default:
			return e.calledValue(&best.function, of)
		}
	}
	if to.Addr != 0 { // C's, of which no debug information tells
		return callee{Symbol: to.Symbol}, nil
	}
	if len(all) == 1 && all[0].code { // the call says what is wrong with its arguments
		if to.object != nil {
			return e.boundMethod(to.object, &all[0].function, of)
		}
		return e.calledValue(&all[0].function, of)
	}
	var types []string
	for i := range given {
		types = append(types, given[i].Type.String())
	}
	return to, e.fail(of.At, "no function %s takes (%s): there are %s", of.Text, strings.Join(types, ", "), signatures(all, of.Text))
}

// maxSignatures bounds the functions that an error names.
const maxSignatures = 12

// signatures returns candidates as C++ writes them.
func signatures(list []candidate, name string) string {
	var texts []string
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.function.Addr, b.function.Addr) })
	for i := range list {
		if i == maxSignatures {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, list[i].signature(name))
	}
	return strings.Join(texts, ", ")
}

// best returns the candidate that fits arguments best (C++20, [over.match.best]). ok is false if
// none fits. Where C++ has none that is best, GDB's preferences decide.
func (e *evaluation) best(list []candidate, object *Value, given []Value, of *syntax.Node) (best candidate, ok bool, err error) {
	var fitting []candidate
	var ranks [][]rank
	for _, c := range list {
		if r, ok := e.ranks(&c, object, given); ok {
			fitting, ranks = append(fitting, c), append(ranks, r)
		}
	}
	if len(fitting) == 0 {
		return best, false, nil
	}
	name := of.Text
	for _, same := range []func(a, b rank) int{byLanguage, byDebugger} {
		i := champion(ranks, same, func(i int) bool { return fitting[i].code })
		if i < 0 {
			continue
		}
		for j := range ranks {
			if !fitting[j].code && better(ranks[j], ranks[i], byConversion) {
				return best, false, e.fail(of.At, "the program has no code of %s, which fits best: inlined everywhere, or never called."+
					" Cast an argument to call another one", fitting[j].signature(name))
			}
		}
		return fitting[i], true, nil
	}
	var coded []candidate
	for _, c := range fitting {
		if c.code {
			coded = append(coded, c)
		}
	}
	if len(coded) == 0 {
		return best, false, e.fail(of.At, "the program has no code of %s: inlined everywhere, or never called", signatures(fitting, name))
	}
	how := ""
	if object == nil {
		how = ", or write the types of the parameters behind the name, as in '" + coded[0].signature(name) + "(…)'"
	}
	return best, false, e.fail(of.At, "several functions fit as well: %s. Cast an argument%s", signatures(coded, name), how)
}

// champion returns the index of the function that is better than all others which count; -1 if
// there is none.
func champion(list [][]rank, order func(a, b rank) int, counts func(int) bool) int {
	best := -1
	for i := range list {
		if counts(i) && (best < 0 || better(list[i], list[best], order)) {
			best = i
		}
	}
	for i := range list {
		if i != best && counts(i) && !better(list[best], list[i], order) {
			return -1
		}
	}
	return best
}

// better reports whether a function fits better than another one: no argument fits worse, and one
// better.
func better(a, b []rank, order func(a, b rank) int) bool {
	some := false
	for i := range min(len(a), len(b)) {
		switch c := order(a[i], b[i]); {
		case c > 0:
			return false
		case c < 0:
			some = true
		}
	}
	return some
}
