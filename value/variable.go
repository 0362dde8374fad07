package value

import (
	"debug/dwarf"
	"iter"
	"slices"

	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Variable is an argument or a local variable of a frame.
type Variable struct {
	Name     string
	Argument bool
	// Block counts the blocks of statements around the variable from the function's, which is 0.
	// Inner ones have larger numbers.
	Block int
	Type  *Type
	Line  int // where the source declares it; 0 if that is not known
	// Constant says that an enumerator of a type in the block is meant.
	Constant bool

	in    *context
	entry *symbol.Entry // has the location
	about *symbol.Entry // the same, or the abstract entry that has the name
	known *known
}

// known is what debug information says of a variable at one address: all frames there share it.
type known struct {
	varies        bool        // the type has bounds that only a frame tells
	here, atEntry *expression // the location there, and where the function is entered; nil until they are read
	matching      func(p *callParameter) bool
}

// expression is an expression that was read; x is nil if there is none.
type expression struct {
	x   *symbol.Expression
	err error
	// What the last evaluation has ended with. It is kept because the next frame's evaluation
	// mostly ends with the same.
	failure dwarfexpr.Failure
	out     *optimizedOut
}

// expressionOf reads the expression of an attribute at a link-time address.
func expressionOf(e *symbol.Entry, a dwarf.Attr, pc uint64) *expression {
	x, err := e.Expression(a, pc)
	return &expression{x: x, err: err}
}

// Frame has the variables of one logical frame.
type Frame struct {
	// Arguments are in the order of the declaration, Locals in GDB's order: from the inner to the
	// outer block; within a function's own block in the order of the source.
	Arguments, Locals []Variable
	// Known says that there is debug information of the function.
	Known    bool
	Language string // of the function, by GDB's name; "" if it is not known

	in  *context
	all []Variable // arguments and locals
}

// scopes are what debug information tells of an address in block.
type scopes struct {
	list     []symbol.Scope
	bias     uint64
	err      error
	parts    []*variables // by frame, from the outermost (the function) inward; nil until it is asked for
	language string       // of the function; "" until it is asked for

	entry uint64               // run-time address at which the function is entered; 0 until it is asked for
	base  *expression          // DW_AT_frame_base
	sites map[uint64]*callSite // by link-time return address; nil where there is none

	mentions    map[symbol.Ref]*mentioned
	expressions map[attributeOf]*expression // of bounds
}

// variables are the variables of a function or of one inlined call at an address.
type variables struct {
	arguments, locals []Variable // without context
	language          string
}

// Bounds on Reader.scopes, and on the entries in them: each address of a function has all of them.
const maxScopes, maxEntries = 1 << 14, 1 << 17

// at returns the scopes at an address in block.
func (r *Reader) at(pc uint64) *scopes {
	if s := r.scopes[pc]; s != nil {
		return s
	}
	s := &scopes{}
	s.list, s.bias, s.err = r.Symbols.Scopes(r.Modules, pc)
	n := 0
	for i := range s.list {
		n += len(s.list[i].Entries) + len(s.list[i].Others)
	}
	if r.entries += n; len(r.scopes) >= maxScopes || r.entries > maxEntries {
		clear(r.scopes)
		r.entries = n
	}
	r.scopes[pc] = s
	return s
}

// Frame returns the variables of a frame. mem is the memory of its stack (target.MemoryOf). The
// error says why debug information cannot be read.
func (r *Reader) Frame(f *logical.Frame, mem target.Memory) (Frame, error) {
	if f.Physical == nil {
		return Frame{}, nil
	}
	if f.Type == frame.SigTramp || f.Type == frame.Dummy {
		return Frame{in: r.about(f, &scopes{}, mem)}, nil
	}
	s := r.at(f.AddressInBlock)
	if s.err != nil || len(s.list) == 0 {
		return Frame{in: r.about(f, &scopes{}, mem)}, s.err
	}
	v := s.variables(r, f)
	c := r.about(f, s, mem)
	c.pc = f.AddressInBlock - s.bias
	n := len(v.arguments)
	all := r.room.variables(n + len(v.locals))
	copy(all[copy(all, v.arguments):], v.locals)
	for i := range all {
		all[i].in = c
	}
	return Frame{Arguments: all[:n:n], Locals: all[n:], Known: true, Language: v.language, in: c, all: all}, nil
}

// about returns the context of a frame.
func (r *Reader) about(f *logical.Frame, s *scopes, mem target.Memory) *context {
	c := r.room.context()
	*c = context{r: r, frame: *f, mem: mem, scopes: s, bytes: c.bytes}
	if running, ok := mem.(target.RunningMemory); ok {
		c.watched = watched{RunningMemory: running}
		c.mem = &c.watched
	}
	return c
}

// variables returns the variables of the function or inlined call that f is.
func (s *scopes) variables(r *Reader, f *logical.Frame) *variables {
	// Frames count from the function inward, as inlined calls do.
	starts := []int{0}
	for i := 1; i < len(s.list); i++ {
		if s.list[i].Called() {
			starts = append(starts, i)
		}
	}
	if s.parts == nil {
		s.parts = make([]*variables, len(starts))
	}
	depth := f.Depth()
	if f.Type == frame.TailCall {
		depth = len(starts) - 1 // the jump is in the innermost call
	}
	if depth >= len(starts) {
		return &variables{}
	}
	if v := s.parts[depth]; v != nil {
		return v
	}
	end := len(s.list)
	if depth+1 < len(starts) {
		end = starts[depth+1]
	}
	v := &variables{language: s.list[0].Language()}
	s.parts[depth] = v
	for i := end - 1; i >= starts[depth]; i-- {
		list := r.block(&s.list[i], i-starts[depth])
		if i > starts[depth] {
			list = hashed(list, v.language)
		}
		for _, x := range list {
			switch {
			case x.Argument && i == starts[depth]:
				v.arguments = append(v.arguments, x)
			case x.entry != nil || x.Constant: // GDB shows parameters of a block among them
				x.Argument = false
				v.locals = append(v.locals, x)
			}
		}
	}
	return v
}

// maxAbstract bounds how many entries describe one variable, each referring to the next.
const maxAbstract = 8

// described yields the entries that describe what e does, each for what those before do not say: e,
// its abstract instance (DWARF 5, section 3.3.8.1), its declaration (section 2.13.2).
func (r *Reader) described(e *symbol.Entry) iter.Seq[*symbol.Entry] {
	return func(yield func(*symbol.Entry) bool) {
		for range maxAbstract {
			if !yield(e) {
				return
			}
			next := e.Reference(dwarf.AttrAbstractOrigin)
			if next.IsZero() {
				next = e.Reference(dwarf.AttrSpecification)
			}
			if next.IsZero() {
				return
			}
			origin, err := r.Symbols.Entry(next)
			if err != nil {
				return
			}
			r.reached(e, origin)
			e = origin
		}
	}
}

// typed returns the first of the entries that describe what e does that has a type; e if none has.
func (r *Reader) typed(e *symbol.Entry) *symbol.Entry {
	for x := range r.described(e) {
		if x.Has(dwarf.AttrType) {
			return x
		}
	}
	return e
}

// block returns the variables of a scope, in the order of the debug information.
func (r *Reader) block(s *symbol.Scope, number int) (list []Variable) {
	seen := make(map[symbol.Ref]bool)
	for _, e := range s.Entries {
		if e.Tag == dwarf.TagCommonDwarfBlock { // of Fortran
			if kids, err := e.Children(); err == nil {
				for _, k := range kids {
					list = r.appendVariable(list, k, number, seen)
				}
			}
			continue
		}
		list = r.appendVariable(list, e, number, seen)
	}
	for _, e := range s.Others {
		seen[e.Reference(dwarf.AttrAbstractOrigin)] = true
	}
	// What the abstract function has, and the code has not, is optimized out: GDB shows it all the
	// same.
	origin := s.Reference(dwarf.AttrAbstractOrigin)
	if origin.IsZero() {
		return list
	}
	abstract, err := r.Symbols.Entry(origin)
	if err != nil {
		return list
	}
	r.reached(s.Entry, abstract)
	n := len(list)
	if list = r.appendAbstract(list, abstract, number, seen, 0); len(list) > n && sameTags(s.Entry, abstract) {
		return list[:n]
	}
	return list
}

// sameTags reports whether two entries have children of the same kinds, one by one. Then GDB takes
// them for the same: a block need not refer to its abstract one (clang's do not).
func sameTags(a, b *symbol.Entry) bool {
	x, err := a.Children()
	if err != nil {
		return false
	}
	y, err := b.Children()
	return err == nil && slices.EqualFunc(x, y, func(x, y *symbol.Entry) bool { return x.Tag == y.Tag })
}

// appendAbstract appends the variables of an abstract scope that no entry of the code refers to.
// Blocks that are only there are as if they were not: their variables belong to the block around
// them.
func (r *Reader) appendAbstract(list []Variable, scope *symbol.Entry, number int, seen map[symbol.Ref]bool, depth int) []Variable {
	kids, err := scope.Children()
	if err != nil || depth > maxAbstract {
		return list
	}
	for _, e := range kids {
		if seen[e.Ref] && depth == 0 { // GDB does not look further in
			continue
		}
		if e.Tag == dwarf.TagLexDwarfBlock {
			list = r.appendAbstract(list, e, number, seen, depth+1)
			continue
		}
		list = r.appendVariable(list, e, number, seen)
	}
	return list
}

// appendVariable appends the variable or the enumerators of an entry.
func (r *Reader) appendVariable(list []Variable, e *symbol.Entry, number int, seen map[symbol.Ref]bool) []Variable {
	about := e
	for about = range r.described(e) {
		seen[about.Ref] = true
	}
	switch e.Tag {
	case dwarf.TagFormalParameter, dwarf.TagVariable:
		v := Variable{Name: about.Text(dwarf.AttrName), Argument: e.Tag == dwarf.TagFormalParameter, Block: number, entry: e, about: about, known: &known{}}
		if !e.Has(dwarf.AttrLocation) && !e.Has(dwarf.AttrConstValue) {
			v.entry = about
		}
		if v.Name == "" || ofAdaCompiler(v.Name) && r.language(about) == "ada" {
			return list
		}
		if n, ok := about.Constant(dwarf.AttrDeclLine); ok && n < 1<<31 {
			v.Line = int(n)
		}
		v.Type = r.typeOf(about)
		if !about.Has(dwarf.AttrType) && e.Has(dwarf.AttrType) {
			v.Type = r.typeOf(e)
		}
		v.known.varies = v.Type.varies(0)
		if about.Flag(dwarf.AttrExternal) && !v.entry.Has(dwarf.AttrLocation) && !v.entry.Has(dwarf.AttrConstValue) {
			v.entry = nil // of another function or file: counted, not shown
		}

		return append(list, v)
	case dwarf.TagLabel:
		// A label without code: GDB shows it among the variables.
		if name := about.Text(dwarf.AttrName); name != "" && !e.Has(dwarf.AttrLowpc) {
			return append(list, Variable{Name: name, Block: number, Type: r.void(), entry: e, about: about, known: &known{}})
		}
		return appendCounted(list, about, number)
	case dwarf.TagEnumerationType:
		t := r.typeAt(e.Ref)
		for _, x := range t.Enumerators() {
			list = append(list, Variable{Name: x.Name, Block: number, Type: t, Constant: true, about: e})
		}
		return appendCounted(list, about, number)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagTypedef:
		return appendCounted(list, about, number)
	}
	return list
}

// appendCounted appends what GDB has in the table of a block, and does not show: a label or a type
// that has a name. See [hashed].
func appendCounted(list []Variable, e *symbol.Entry, number int) []Variable {
	if name := e.Text(dwarf.AttrName); name != "" && !e.Flag(dwarf.AttrDeclaration) {
		list = append(list, Variable{Name: name, Block: number, about: e})
	}
	return list
}
