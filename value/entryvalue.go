package value

import (
	"bytes"
	"debug/dwarf"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
)

// entryValue returns the value that an expression had when the function was entered: what the
// caller's call site says of it (DW_OP_entry_value).
func (c *context) entryValue(x dwarfexpr.Expression) (dwarfexpr.Location, error) {
	return c.callerArgument(func(p *callParameter) bool { return sameParameter(p.at, x.Code) })
}

// sameParameter reports whether the location of an argument at a call site is the location of an
// entry value. An entry value may read memory whose address the call site has as a register plus an
// offset.
func sameParameter(at, want []byte) bool {
	if len(at) == 0 || len(want) == 0 {
		return false
	}
	const reg0, breg0 = dwarfdata.OpReg0, dwarfdata.OpBreg0
	if bytes.Equal(at, want) {
		return true
	}
	if len(want) == 1 && len(at) == 2 && isBreg(at[0]) && at[1] == 0 && at[0]-breg0 == want[0]-reg0 {
		return true
	}
	// The register's contents as a value of a type.
	return (want[0] == dwarfdata.OpRegvalType || want[0] == dwarfdata.OpGNURegvalType) && len(want) > 1 && len(at) == 1 &&
		isReg(at[0]) && at[0]-reg0 == want[1]
}

// isReg reports whether an operation is one of DW_OP_reg0 to DW_OP_reg31.
func isReg(op byte) bool { return op >= dwarfdata.OpReg0 && op < dwarfdata.OpReg0+32 }

// isBreg reports whether an operation is one of DW_OP_breg0 to DW_OP_breg31.
func isBreg(op byte) bool { return op >= dwarfdata.OpBreg0 && op < dwarfdata.OpBreg0+32 }

// callSite is a call, DWARF 5 section 3.4.
type callSite struct {
	entry      *symbol.Entry
	target     *expression // computes where the call goes; nil if there is none
	origin     symbol.Ref  // the function; zero if only the program knows it
	parameters []callParameter
	untold     error // for an argument that is not among these; nil until it is asked for
}

// callParameter is an argument of a call.
type callParameter struct {
	entry *symbol.Entry
	at    []byte // the expression of where the callee finds it
	// The expressions of its value, and of the object that it refers to; nil until they are read.
	value, object *expression
}

// callerArgument returns the value that the caller passed for an argument, where its call site
// tells it.
func (c *context) callerArgument(is func(p *callParameter) bool) (dwarfexpr.Location, error) {
	caller, p, err := c.callerParameter(is)
	if err != nil {
		return dwarfexpr.Location{}, err
	}
	return caller.argument(p)
}

// untold says why a call site does not tell an argument. It is an [ErrUnavailable]. Its text is
// seldom asked for.
type untold struct {
	format string // for addr
	addr   uint64
}

func (e untold) Error() string {
	return fmt.Sprintf(e.format, e.addr) + ": " + ErrUnavailable.Error()
}

func (e untold) Unwrap() error { return ErrUnavailable }

// callerParameter finds an argument at the call site of the caller.
func (c *context) callerParameter(is func(p *callParameter) bool) (*context, *callParameter, error) {
	if c.nested >= maxNested {
		return nil, nil, ErrUnavailable
	}
	caller, err := c.caller()
	if err != nil {
		return nil, nil, err
	}
	site, err := caller.scopes.callSite(caller.frame.PC-caller.scopes.bias, caller.pc)
	if err == nil && site == nil {
		err = untold{"no call site returns to %#x", caller.frame.PC}
	}
	if err == nil {
		err = caller.callsTo(site, c)
	}
	if err == nil && c.r.callsItself(c.entry()) {
		err = fmt.Errorf("the function may have called itself by a tail call: %w", ErrUnavailable)
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range site.parameters {
		if p := &site.parameters[i]; is(p) {
			return caller, p, nil
		}
	}
	if site.untold == nil {
		site.untold = &untold{"the call that returns to %#x does not tell", caller.frame.PC}
	}
	return nil, nil, site.untold
}

// argument returns the value of an argument of a call that c's function makes.
func (c *context) argument(p *callParameter) (dwarfexpr.Location, error) {
	if p.value == nil {
		p.value = computed(p.entry, c.pc, dwarf.AttrCallValue, dwarfdata.AttrGNUCallValue)
	}
	return c.computed(p, p.value)
}

// argumentObject returns the object that an argument refers to, as it is at the call.
func (c *context) argumentObject(p *callParameter) (dwarfexpr.Location, error) {
	if p.object == nil {
		p.object = computed(p.entry, c.pc, dwarf.AttrCallDataValue, dwarfdata.AttrGNUDataValue)
	}
	return c.computed(p, p.object)
}

func (c *context) computed(p *callParameter, x *expression) (dwarfexpr.Location, error) {
	switch {
	case x.err != nil:
		return dwarfexpr.Location{}, x.err
	case x.x == nil:
		return dwarfexpr.Location{}, ErrUnavailable
	}
	return c.number(p.entry, x.x)
}

// computed reads an expression that computes a value, and not where one is, by the first of two
// attributes that is there.
func computed(e *symbol.Entry, pc uint64, attr, gnu dwarf.Attr) *expression {
	x := expressionOf(e, attr, pc)
	if x.x == nil && x.err == nil {
		x = expressionOf(e, gnu, pc)
	}
	if x.x != nil {
		y := *x.x
		y.Code = append(bytes.Clone(y.Code), dwarfdata.OpStackValue)
		x.x = &y
	}
	return x
}

// entry returns the run-time address at which the frame's function is entered; 0 if it is not
// known.
func (c *context) entry() uint64 {
	if c.scopes.entry == 0 {
		c.scopes.entry = c.findEntry()
	}
	return c.scopes.entry
}

func (c *context) findEntry() uint64 {
	function := c.scopes.list[0]
	if pc, ok := function.Address(dwarf.AttrEntrypc); ok {
		return pc + c.scopes.bias
	}
	if pc, ok := function.Address(dwarf.AttrLowpc); ok {
		return pc + c.scopes.bias
	}
	at := c.r.Symbols.Locate(c.r.Modules, c.frame.AddressInBlock)
	f := &at[len(at)-1]
	if f.Entry != 0 {
		return f.Entry
	}
	return f.Start
}

// callsTo returns an error unless a call is known to go to the function of another frame, and not
// to one that has left by a tail call. Where the call goes, the program alone may know: then the
// call site must say how to find it.
func (c *context) callsTo(site *callSite, inner *context) error {
	if site.target != nil {
		to, err := c.value(site.entry, site.target.x)
		if err == nil && to != inner.entry() {
			err = untold{"the call goes to %#x", to}
		}
		return err
	}
	if site.origin.IsZero() {
		return untold{"nothing says where the call before %#x goes", c.frame.PC}
	}
	if c.frame.Type == frame.TailCall {
		return nil // the tail call is known by where it leads
	}
	calls := c.r.tailCalls(c.frame.PC, inner.entry())
	if calls.Err == nil || c.r.sameFunction(site.origin, inner.scopes.list[0].Entry) {
		return nil
	}
	return fmt.Errorf("%v: %w", calls.Err, ErrUnavailable)
}

// sameFunction reports whether an entry describes the function of another one: both may only refer
// to what does.
func (r *Reader) sameFunction(ref symbol.Ref, function *symbol.Entry) bool {
	called, err := r.Symbols.Entry(ref)
	if err != nil {
		return false
	}
	for x := range r.described(called) {
		for y := range r.described(function) {
			if x.Ref == y.Ref {
				return true
			}
		}
	}
	return false
}

// callsItself reports whether the function that is entered at entry may call itself by tail calls:
// then its arguments may not be the call site's.
func (r *Reader) callsItself(entry uint64) bool {
	if yes, ok := r.loops[entry]; ok {
		return yes
	}
	yes := r.Symbols.TailCallsItself(r.Modules, entry)
	if r.loops == nil || len(r.loops) >= maxScopes {
		r.loops = make(map[uint64]bool)
	}
	r.loops[entry] = yes
	return yes
}

// caller returns the context of the function that has called c's, or has left by a tail call to it.
func (c *context) caller() (*context, error) {
	by := &c.calledBy
	if !by.read {
		by.read = true
		by.c, by.err = c.findCaller()
	}
	if by.c != nil {
		by.c.nested = c.nested + 1
	}
	return by.c, by.err
}

func (c *context) findCaller() (*context, error) {
	f := c.frame.Physical
	if f == nil {
		return nil, ErrUnavailable
	}
	if c.frame.Type != frame.TailCall && f.Type() != frame.Normal && f.Type() != frame.OtherStack {
		return nil, ErrUnavailable
	}
	prev, err := f.Prev()
	if err != nil || prev == nil {
		return nil, ErrUnavailable
	}
	if t := prev.Type(); t != frame.Normal && t != frame.OtherStack {
		return nil, ErrUnavailable
	}
	inner := c
	if c.frame.Type == frame.TailCall {
		if inner, err = c.context(f, f.PC(), f.AddressInBlock(), f.Type()); err != nil {
			return nil, err
		}
	}
	calls := c.r.tailCalls(prev.PC(), inner.entry())
	if calls.Err != nil && calls.Target != 0 {
		return nil, fmt.Errorf("%v: %w", calls.Err, ErrUnavailable)
	}
	// The tail calls next to the physical frame come first.
	next := 0
	if c.frame.Type == frame.TailCall {
		next = len(calls.Calls) // the last one leads to the physical caller
		for i := range calls.Calls {
			if calls.Calls[i].PC == c.frame.PC {
				next = i + 1
			}
		}
	}
	switch {
	case next < calls.Callees:
		j := calls.Calls[next]
		return c.context(f, j.PC, j.Jump, frame.TailCall)
	case calls.Ambiguous && next == calls.Callees:
		return nil, fmt.Errorf("several tail calls may have led to the function: %w", ErrUnavailable)
	case next < len(calls.Calls):
		j := calls.Calls[next]
		return c.context(f, j.PC, j.Jump, frame.TailCall)
	}
	return c.context(prev, prev.PC(), prev.AddressInBlock(), prev.Type())
}

// context returns the context of another frame of the stack.
func (c *context) context(f *frame.Frame, pc, block uint64, t frame.Type) (*context, error) {
	s := c.r.at(block)
	if s.err != nil || len(s.list) == 0 {
		return nil, ErrUnavailable
	}
	out := c.r.room.context()
	*out = context{r: c.r, mem: c.mem, scopes: s, pc: block - s.bias, nested: c.nested + 1, bytes: out.bytes}
	out.frame.Physical, out.frame.PC, out.frame.AddressInBlock, out.frame.Type = f, pc, block, t
	return out, nil
}

// callSite returns the call that returns to a link-time address; nil if there is none. pc is an
// address within the call.
func (s *scopes) callSite(ret, pc uint64) (*callSite, error) {
	if site, ok := s.sites[ret]; ok {
		return site, nil
	}
	site, err := s.readCallSite(ret, pc)
	if err != nil {
		return nil, err
	}
	if s.sites == nil {
		s.sites = make(map[uint64]*callSite)
	}
	s.sites[ret] = site
	return site, nil
}

func (s *scopes) readCallSite(ret, pc uint64) (*callSite, error) {
	e := s.callEntry(ret)
	if e == nil {
		return nil, nil
	}
	site := &callSite{entry: e, origin: e.Reference(dwarf.AttrCallOrigin)}
	if site.origin.IsZero() {
		site.origin = e.Reference(dwarf.AttrAbstractOrigin)
	}
	for _, a := range [...]dwarf.Attr{dwarf.AttrCallTarget, dwarfdata.AttrGNUTarget} {
		if x := expressionOf(e, a, pc); x.x != nil {
			site.target = x
		}
	}
	kids, err := e.Children()
	if err != nil {
		return nil, err
	}
	for _, p := range kids {
		if p.Tag == dwarf.TagCallSiteParameter || p.Tag == dwarfdata.TagGNUCallSiteParameter {
			site.parameters = append(site.parameters, callParameter{entry: p, at: p.Block(dwarf.AttrLocation)})
		}
	}
	return site, nil
}

// tailKey is a call and the function that it led to.
type tailKey struct{ ret, entry uint64 }

// tailCalls is symbol.Symbolizer.TailCalls, and keeps the answer.
func (r *Reader) tailCalls(ret, entry uint64) *symbol.TailCalls {
	key := tailKey{ret, entry}
	if t := r.tails[key]; t != nil {
		return t
	}
	t := r.Symbols.TailCalls(r.Modules, ret, entry)
	if r.tails == nil || len(r.tails) >= maxScopes {
		r.tails = make(map[tailKey]*symbol.TailCalls)
	}
	r.tails[key] = &t
	return &t
}

// callEntry returns the entry of the call that returns to a link-time address; nil if there is
// none.
func (s *scopes) callEntry(ret uint64) *symbol.Entry {
	for i := len(s.list) - 1; i >= 0; i-- {
		for _, e := range s.list[i].Entries {
			switch e.Tag {
			case dwarf.TagCallSite, dwarfdata.TagGNUCallSite:
			default:
				continue
			}
			at, ok := e.Address(dwarf.AttrCallReturnPC)
			if !ok {
				at, ok = e.Address(dwarf.AttrLowpc)
			}
			if ok && at == ret {
				return e
			}
		}
	}
	return nil
}
