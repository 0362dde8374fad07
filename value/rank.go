package value

import (
	"cmp"
	"debug/dwarf"
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

// rank says how well an argument fits a parameter: 0 is best in each respect, and the first that
// differs decides.
type rank struct {
	level fit
	depth int // how far a base is, and what is worse than any base
	bind  int // how a reference or pointer fits that has other qualifiers
	taste int // what GDB prefers where C++ does not
}

// fit is the category of a conversion (C++20, [over.ics.scs]).
type fit int

const (
	exact fit = iota
	promotion
	conversion
	ellipsis // an argument for "..."
	forced   // a text for a char *, which only GDB converts
)

const (
	toVoid = maxClasses + 1 + iota // void * is further than any base
	toBool                         // and from pointers, bool still further
)

func byConversion(a, b rank) int {
	return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.depth, b.depth))
}

func byLanguage(a, b rank) int { return cmp.Or(byConversion(a, b), cmp.Compare(a.bind, b.bind)) }

func byDebugger(a, b rank) int { return cmp.Or(byLanguage(a, b), cmp.Compare(a.taste, b.taste)) }

// ranks ranks the arguments of a call. ok is false if they do not fit.
func (e *evaluation) ranks(c *candidate, object *Value, given []Value) (list []rank, ok bool) {
	if len(given) < len(c.params) || len(given) > len(c.params) && !c.more {
		return nil, false
	}
	if object != nil {
		r := rank{}
		if c.this != nil {
			pointer := e.pointer(e.r.pointerTo(object.Type), 0)
			if r, ok = e.rankPointer(c.this.Strip(), &pointer); !ok {
				return nil, false
			}
		}
		list = append(list, r)
	}
	for i := range given {
		r := rank{level: ellipsis}
		if i < len(c.params) {
			if r, ok = e.rank(c.params[i], &given[i]); !ok {
				return nil, false
			}
		}
		list = append(list, r)
	}
	return list, true
}

// rank ranks an argument. ok is false if it does not fit the parameter.
func (e *evaluation) rank(param *Type, v *Value) (r rank, ok bool) {
	to, from := param.Strip(), v.Type.Strip()
	if to.Kind == Reference || to.Kind == RvalueReference {
		return e.rankReference(to, v)
	}
	if sameType(to, from) {
		return rank{}, true
	}
	switch to.Kind {
	case Pointer:
		return e.rankPointer(to, v)
	case Struct:
		return rankBase(from, to)
	case Array: // a vector
		return rank{}, from.Kind == Array && from.Vector && from.sizeOrZero() == to.sizeOrZero()
	case Bool, Char, Integer, Float:
		return rankNumber(to, from)
	case Unspecified: // nullptr_t
		return rank{level: conversion}, isNull(v)
	}
	return r, false
}

func sameType(a, b *Type) bool {
	return a == b || a.Kind == b.Kind && a.parameterName() == b.parameterName()
}

// rankReference ranks an argument for a reference.
func (e *evaluation) rankReference(to *Type, v *Value) (r rank, ok bool) {
	elem := to.Elem()
	constant, volatile := elem.qualifiers()
	own, ownVolatile := v.Type.qualifiers()
	object := v.Place != Nowhere
	target, from := elem.Strip(), v.Type.Strip()
	switch {
	case sameType(target, from):
		ok = true
	case target.Kind == Struct:
		if r, ok = rankBase(from, target); !ok {
			return r, false
		}
	default: // a copy, which is no object
		if r, ok = e.rank(elem, v); !ok {
			return r, false
		}
		object = false
	}
	switch {
	case to.Kind == RvalueReference && object, to.Kind == Reference && !object && !constant:
		return r, false
	case object && (own && !constant || ownVolatile && !volatile):
		return r, false
	case constant != own || volatile != ownVolatile:
		r.bind++
	}
	if to.Kind == Reference && !object {
		r.bind += 2 // worse than a reference to what is no object
	}
	r.taste++
	return r, true
}

// rankBase ranks an object for one of its bases.
func rankBase(from, to *Type) (r rank, ok bool) {
	if from.Kind != Struct {
		return r, false
	}
	if from.FullName() == to.FullName() {
		return r, true
	}
	path := basePath(from, to.FullName(), 0)
	return rank{level: conversion, depth: len(path)}, path != nil
}

// rankPointer ranks an argument for a pointer.
func (e *evaluation) rankPointer(to *Type, v *Value) (r rank, ok bool) {
	from := v.Type.Strip()
	var elem *Type
	switch from.Kind {
	case Pointer, Array:
		if elem = from.Elem(); from.Vector {
			return r, false
		}
	case Function:
		elem = v.Type
	default:
		return rank{level: conversion}, isNull(v)
	}
	target := to.Elem()
	constant, volatile := target.qualifiers()
	own, ownVolatile := elem.qualifiers()
	if from.Kind == Array && v.Place == Nowhere && isCharacter(elem.Strip()) { // a text
		if own = true; !constant && sameType(target.Strip(), elem.Strip()) {
			return rank{level: forced}, true
		}
	}
	if own && !constant || ownVolatile && !volatile {
		return r, false
	}
	if own != constant || ownVolatile != volatile {
		r.bind = 1
	}
	a, b := target.Strip(), elem.Strip()
	switch {
	case sameType(a, b):
		return r, true
	case a.Kind == Void:
		return rank{level: conversion, depth: toVoid, bind: r.bind}, b.Kind != Function
	case a.Kind == Struct && b.Kind == Struct:
		base, ok := rankBase(b, a)
		base.bind = r.bind
		return base, ok
	}
	return r, false
}

func isCharacter(t *Type) bool { return t.Kind == Char || t.FullName() == "char" }

// isNull reports whether a value may stand for a null pointer.
func isNull(v *Value) bool {
	t := v.Type.Strip()
	if t.Kind != Integer || v.Place != Nowhere {
		return t.Kind == Unspecified
	}
	i, err := v.Int()
	return err == nil && i == 0
}

// rankNumber ranks an argument for a parameter of an arithmetic type (C++20, [conv.prom],
// [conv.fpprom]).
func rankNumber(to, from *Type) (r rank, ok bool) {
	promotes := false
	switch from.Kind {
	case Bool, Char, Integer:
		promotes = promoted(from) == to.FullName()
	case Enum:
		if from.entry != nil && from.entry.Flag(dwarf.AttrEnumClass) {
			return r, false
		}
		below := from.Elem().Strip()
		if promotes = to.FullName() == "int" || below.FullName() == to.FullName(); below.Size < 4 && below.Kind != Void && to.Size == 4 {
			r.bind = 1 // the type that the source gives it is better (C++20, [over.ics.rank] 4.2)
		}
	case Float:
		promotes = from.FullName() == "float" && to.FullName() == "double"
	case Pointer, Array, Function, MemberPointer:
		return rank{level: conversion, depth: toBool}, to.Kind == Bool
	default:
		return r, false
	}
	if r.level = conversion; promotes {
		r.level = promotion
	}
	switch wider := to.Size > from.Size; {
	case to.Kind == Bool:
		r.taste = 2
	case from.Kind == Enum && to.FullName() == "int", from.Kind == Float && to.Kind == Float && wider,
		from.FullName() == "int" && to.FullName() == "long", from.FullName() == "unsigned int" && to.FullName() == "unsigned long":
	default:
		r.taste = 1
	}
	return r, true
}

// promoted returns the name of the type to which C++ promotes an integer; "" if to none.
func promoted(t *Type) string {
	switch {
	case t.Kind == Bool, t.Size < 4, t.Name == "wchar_t" && t.Signed:
		return "int"
	case t.Name == "wchar_t", t.Name == "char32_t":
		return "unsigned int"
	}
	return ""
}
