package value

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// module returns the module that the frame runs in.
func (e *evaluation) module() *target.Module { return e.r.Modules.Find(e.c.frame.AddressInBlock) }

// unknownType says that a symbol table has a variable, and that its type is not known.
type unknownType struct {
	name string
	addr uint64
}

func (u *unknownType) Error() string {
	return fmt.Sprintf("'%s' has unknown type; cast it to its declared type", u.name)
}

// name evaluates a name: of a local variable, a member of this, a variable or function of a
// namespace, the unit, another unit, another module.
func (e *evaluation) name(n *syntax.Node) (Value, error) {
	if strings.HasPrefix(n.Text, "$") {
		if i, ok := e.isEarlier(n); ok {
			return e.earlier(n, i)
		}
		return e.register(n)
	}
	if n.Overload {
		return e.overloaded(n)
	}
	text, global, wrong := e.rustPath(n.Text)
	if wrong != "" {
		return Value{}, e.fail(n.At, "%s", wrong)
	} else if !global {
		text, global = strings.CutPrefix(n.Text, "::")
	}
	if e.f.Language == "fortran" {
		text = strings.ToLower(text)
	}
	if n.File != "" {
		if v, ok := e.inFile(n.File, text); ok {
			return v, nil
		}
		return Value{}, e.missing(n.At, "No symbol \"%s\" in file \"%s\".", text, n.File)
	}
	if !global && text == "nil" && e.f.Language == "go" && e.local(text) == nil {
		return e.pointer(e.r.pointerTo(e.r.void()), 0), nil
	}
	if !global && (text == "true" || text == "false") && e.boolean(true).Type.Kind == Bool {
		return e.boolean(text == "true"), nil
	}
	if !global {
		if v := e.local(text); v != nil {
			return e.located(v.Value(), n.At)
		}
		if v, ok, err := e.ofThis(text, n.At); ok || err != nil {
			return v, err
		}
	}
	v, ok, err := e.global(text, global)
	if err != nil {
		return v, &syntax.Error{Text: e.text, Column: n.At, What: err.Error(), Cause: err}
	}
	if !ok {
		if e.f.Language == "c++" && e.typeCalled(n.Text, nil) != nil {
			return v, e.fail(n.At, "Attempt to use a type name as an expression")
		}
		if e.f.Language == "rust" {
			text = n.Text
		}
		return v, e.missing(n.At, "No symbol \"%s\" in current context.", text)
	}
	return e.located(v, n.At)
}

// located makes an error of a location that cannot be computed. A value that is gone is none.
func (e *evaluation) located(v Value, at int) (Value, error) {
	if v.err != nil && !IsAbsent(v.err) {
		return v, e.because(at, v.err)
	}
	if e.f.Language == "go" {
		v.Parametric()
	}
	return v, nil
}

// local returns the variable of a name in the innermost block that has one; nil if there is none.
func (e *evaluation) local(name string) (found *Variable) {
	for _, list := range [][]Variable{e.f.Locals, e.f.Arguments} {
		for i := range list {
			v := &list[i]
			own := v.Name
			if v.Constant {
				_, own = splitName(own)
			}
			if (own == name || v.Name == name) && (found == nil || v.Block > found.Block) {
				found = v
			}
		}
	}
	return found
}

// ofThis returns a member of the object whose method runs in the frame.
func (e *evaluation) ofThis(name string, at int) (v Value, ok bool, err error) {
	this := e.local("this")
	if this == nil {
		return v, false, nil
	}
	t := this.Type.Strip()
	if t.Kind != Pointer {
		return v, false, nil
	}
	if base, _ := splitName(name); base != "" { // Base::member
		base = strings.TrimSuffix(base, "::")
		class := t.Elem().Strip()
		if class.Kind != Struct || class.FullName() != base && basePath(class, base, 0) == nil {
			return v, false, nil
		}
		o := this.Value()
		if err := o.Err(); err != nil {
			return v, false, e.because(at, err)
		}
		o = o.Deref()
		if v, err = e.memberOf(&o, name, "structure", at); err != nil {
			return v, false, nil
		}
		return v, true, nil
	}
	paths := memberPaths(t.Elem().Strip(), name, 0)
	if len(paths) > 1 {
		return v, false, e.fail(at, "%s", ambiguous(t.Elem().Strip(), name, paths))
	}
	var path []*Field
	if len(paths) == 1 {
		path = paths[0]
	}
	if path == nil {
		if t.Elem().Strip().Kind != Struct {
			return v, false, nil
		}
		v, ok = e.method(t.Elem().Strip(), name)
		return v, ok, nil
	}
	object := this.Value()
	if path[len(path)-1].Static {
		o := e.at(t.Elem(), 0)
		v = o.Field(path[len(path)-1])
		v, err = e.located(v, at)
		return v, true, err
	}
	if err := object.Err(); err != nil {
		return v, false, e.because(at, err)
	}
	o := object.Deref()
	v, err = e.located(o.path(path), at)
	return v, true, err
}

// contextOf returns a context for the expressions of a module's variables, of which the frame's
// function is none.
func (e *evaluation) contextOf(m *target.Module) *context {
	c := &context{r: e.r, frame: e.c.frame, mem: e.c.mem, scopes: &scopes{}}
	if m != nil {
		if _, bias, err := m.Image(); err == nil {
			c.scopes.bias = bias
		}
		if m != e.module() {
			c.frame.AddressInBlock = m.Base()
		}
	}
	return c
}

// hitValue returns the variable, function or constant that a hit is. ok is false if it has neither
// a place nor a value.
func (e *evaluation) hitValue(h *symbol.Hit, m *target.Module) (v Value, ok bool) {
	k, err := e.r.Symbols.Entry(h.Ref)
	if err != nil {
		return v, false
	}
	about := k
	if !h.Defined.IsZero() {
		if k, err = e.r.Symbols.Entry(h.Defined); err != nil {
			return v, false
		}
	}
	switch h.Tag {
	case dwarf.TagEnumerator:
		t := e.r.typeAt(h.Of)
		for _, x := range t.Enumerators() {
			if _, last := splitName(x.Name); last == k.Text(dwarf.AttrName) {
				return t.constant(x.Value), true
			}
		}
		return v, false
	case dwarf.TagSubprogram:
		t := e.r.typeAt(h.Ref)
		if about != k {
			t = t.withParameters(e.r.typeAt(k.Ref))
		}
		if addr, ok := k.Address(dwarf.AttrLowpc); ok && addr != 0 {
			c := e.contextOf(m)
			return e.at(t, addr+c.scopes.bias), true
		}
		addr, ok := e.symbolOf(k, h.Scope != "", m)
		return e.at(t, addr), ok
	}
	about = e.r.typed(about)
	t := e.r.typeOf(about)
	if k.Has(dwarf.AttrLocation) || k.Has(dwarf.AttrConstValue) {
		return e.contextOf(m).locate(k, t, nil), true
	}
	if addr, ok := e.symbolOf(about, h.Scope != "", m); ok {
		if _, known := t.SizeOf(); known {
			return e.at(t, addr), true
		}
	}
	return e.threadLocalSymbol(about, t, h.Scope != "", m)
}

// threadLocalSymbol returns the thread's variable that a symbol table has for an entry without a
// location: compilers for arm64 give none. scoped is as for symbolOf.
func (e *evaluation) threadLocalSymbol(k *symbol.Entry, t *Type, scoped bool, m *target.Module) (v Value, ok bool) {
	name := symbolName(k, scoped)
	if _, known := t.SizeOf(); !known || name == "" {
		return v, false
	}
	list := e.modules()
	if m != nil {
		list = append([]*target.Module{m}, list...)
	}
	for _, m := range list {
		im, _, err := m.Image()
		if err != nil || threadlocal.Block(im) == nil {
			continue
		}
		s, found := im.ThreadLocal(name)
		if debug := e.r.Symbols.DebugFile(m); !found && debug != nil {
			s, found = debug.ThreadLocal(name)
		}
		if !found {
			continue
		}
		addr, err := e.contextOf(m).threadLocal(s.Addr)
		if err != nil {
			return Value{Type: t, err: err}, true
		}
		return e.at(t, addr), true
	}
	return v, false
}

// symbolOf returns the address that a symbol table has for the function or variable of an entry.
// scoped says that its name has a scope, so that its symbol has another name.
func (e *evaluation) symbolOf(k *symbol.Entry, scoped bool, m *target.Module) (addr uint64, ok bool) {
	name := symbolName(k, scoped)
	if name == "" {
		return 0, false
	}
	if m == nil {
		m = e.module()
	}
	list := e.r.Symbols.Named(e.r.Modules, m, name)
	if len(list) == 0 {
		return 0, false
	}
	return list[0], true
}

// symbolName returns the name of the symbol of an entry, "" if it is not known. scoped says that
// the entry's name has a scope.
func symbolName(k *symbol.Entry, scoped bool) string {
	name := linkageName(k)
	if name == "" && !scoped {
		name = k.Text(dwarf.AttrName)
	}
	return name
}

// inFile returns a variable or function of a source file.
func (e *evaluation) inFile(file, name string) (v Value, ok bool) {
	scope, last := splitName(name)
	for _, m := range e.modules() {
		for _, h := range inScope(e.r.find(findKey{module: m, name: last, file: file, sure: true}), scope, isValueTag) {
			if v, ok := e.hitValue(&h, m); ok {
				return v, true
			}
		}
	}
	return v, false
}

// modules returns all modules, the frame's first.
func (e *evaluation) modules() (list []*target.Module) {
	own := e.module()
	if own != nil {
		list = append(list, own)
	}
	for _, m := range e.r.Modules.All() {
		if m != own {
			list = append(list, m)
		}
	}
	return list
}

// scopesOf returns the scopes in which a name is looked up.
func (e *evaluation) scopesOf(global bool) []string {
	if global {
		return []string{""}
	}
	list := prefixes(e.c.frame.Function)
	if e.f.Language == "go" { // package path and a point
		name := e.c.frame.Function
		slash := strings.LastIndexByte(name, '/') + 1
		if i := strings.IndexByte(name[slash:], '.'); i > 0 {
			list = append([]string{name[:slash+i+1]}, list...)
		}
	}
	return list
}

// global looks a name up outside of functions.
func (e *evaluation) global(name string, global bool) (v Value, ok bool, err error) {
	own := e.module()
	names := e.wholeNames(name, global)
	search := func(find func(last string) []symbol.Hit, m *target.Module) (Value, bool) {
		for _, full := range names {
			if e.f.Language == "go" {
				for _, h := range inScope(find(full), "", isValueTag) {
					if v, ok := e.hitValue(&h, m); ok {
						return v, true
					}
				}
				continue
			}
			scope, last := splitName(full)
			for _, h := range inScope(find(last), scope, isValueTag) {
				if v, ok := e.hitValue(&h, m); ok {
					return v, true
				}
			}
		}
		return Value{}, false
	}
	if unit := e.unitRef(); !unit.IsZero() {
		if v, ok = search(func(last string) []symbol.Hit { return e.r.find(findKey{unit: unit, name: last}) }, own); ok {
			return v, true, nil
		}
	}
	for _, full := range names {
		if scope, last := splitName(full); scope != "" {
			if v, ok := e.ofClass(strings.TrimSuffix(scope, "::"), last); ok {
				return v, true, nil
			}
		}
	}
	if v, ok := e.ofFunction(name, own); ok {
		return v, true, nil
	}
	qualified := strings.Contains(name, "::")
	if !qualified {
		if v, ok, err = e.bySymbol(name); ok || err != nil {
			return v, ok, err
		}
	}
	for i, m := range e.modules() {
		if v, ok = search(func(last string) []symbol.Hit {
			return e.r.find(findKey{module: m, name: last, sure: qualified && i == 0})
		}, m); ok {
			return v, true, nil
		}
	}
	return v, false, nil
}

// bySymbol looks a name up in the symbol tables, and then what debug information tells of it.
func (e *evaluation) bySymbol(name string) (v Value, ok bool, err error) {
	own := e.module()
	list := e.r.Symbols.Named(e.r.Modules, own, name)
	if all := e.r.Modules.All(); len(list) == 0 && len(all) > 0 && all[0] != own {
		list = e.r.Symbols.Named(e.r.Modules, all[0], name)
	}
	if len(list) == 0 {
		return v, false, nil
	}
	addr := list[0]
	m := e.r.Modules.FindData(addr)
	if e.r.Modules.IsCode(addr) {
		scopes, _, err := e.r.Symbols.Scopes(e.r.Modules, addr)
		if err == nil && len(scopes) > 0 {
			return e.at(e.r.typeAt(scopes[0].Ref), addr), true, nil
		}
		return e.at(e.r.withoutInformation(true), addr), true, nil
	}
	for _, h := range inScope(e.r.find(findKey{module: m, name: name, sure: true}), "", isValueTag) {
		if v, ok := e.hitValue(&h, m); ok {
			return v, true, nil
		}
	}
	return v, false, &unknownType{name, addr}
}

// bare returns the address of a variable of which only the symbol is known.
func (e *evaluation) bare(n *syntax.Node) (addr uint64, ok bool) {
	_, err := e.name(n)
	var u *unknownType
	if errors.As(err, &u) {
		return u.addr, true
	}
	return 0, false
}
