package value

import (
	"bytes"
	"debug/dwarf"
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/dwarfexpr"
	"github.com/sfwalk/sfwalk/symbol"
)

// Attributes of call sites, DWARF 5 section 3.4, and GCC's from before.
const (
	attrCallParameter  dwarf.Attr = 0x80
	attrCallValue      dwarf.Attr = 0x7e
	attrCallDataValue  dwarf.Attr = 0x85
	attrGNUCallValue   dwarf.Attr = 0x2111
	attrGNUDataValue   dwarf.Attr = 0x2112
	tagGNUCallSite     dwarf.Tag  = 0x4109
	tagGNUCallSiteParm dwarf.Tag  = 0x410a
)

// entryValue returns the value that an expression had when the function was entered: what the caller's call
// site says of it (DW_OP_entry_value).
func (c *context) entryValue(x dwarfexpr.Expression) (uint64, error) {
	return c.callerArgument(func(p *symbol.Entry) bool {
		return sameParameter(p.Block(dwarf.AttrLocation), x.Code)
	})
}

// sameParameter reports whether the location of an argument at a call site is that of an entry value. An entry value
// may read memory whose address the call site has as a register plus an offset.
func sameParameter(at, want []byte) bool {
	if len(at) == 0 {
		return false
	}
	const breg0, breg31 = 0x70, 0x8f
	if bytes.Equal(at, want) {
		return true
	}
	return len(want) == 1 && len(at) == 2 && at[0] >= breg0 && at[0] <= breg31 && at[1] == 0 && at[0]-breg0 == want[0]-0x50
}

// callerArgument returns the value that the caller passed for an argument, where its call site tells it.
func (c *context) callerArgument(is func(p *symbol.Entry) bool) (uint64, error) {
	a, err := c.callArgument(is)
	if err != nil {
		return 0, err
	}
	return a.value(attrCallValue, attrGNUCallValue)
}

// callArgument is an argument as the caller's call site describes it.
type callArgument struct {
	caller *context
	entry  *symbol.Entry
}

func (a *callArgument) value(attr, gnu dwarf.Attr) (uint64, error) {
	x, err := a.entry.Expression(attr, a.caller.pc)
	if err == nil && x == nil {
		x, err = a.entry.Expression(gnu, a.caller.pc)
	}
	if err != nil {
		return 0, err
	}
	if x == nil {
		return 0, ErrUnavailable
	}
	return evaluated(x).Value(a.caller.environment(a.entry, x))
}

// callArgument finds an argument at the call site of the function's caller.
func (c *context) callArgument(is func(p *symbol.Entry) bool) (*callArgument, error) {
	if c.nested >= maxNested {
		return nil, ErrUnavailable
	}
	caller, err := c.caller()
	if err != nil {
		return nil, err
	}
	site := caller.scopes.callSite(caller.frame.PC - caller.scopes.bias)
	if site == nil {
		return nil, fmt.Errorf("no call site returns to %#x: %w", caller.frame.PC, ErrUnavailable)
	}
	kids, err := site.Children()
	if err != nil {
		return nil, err
	}
	for _, p := range kids {
		if (p.Tag == dwarf.TagCallSiteParameter || p.Tag == tagGNUCallSiteParm) && is(p) {
			return &callArgument{caller, p}, nil
		}
	}
	return nil, fmt.Errorf("the call that returns to %#x does not tell: %w", caller.frame.PC, ErrUnavailable)
}

// caller returns the context of the function that has called c's, if that call led there and nowhere else.
func (c *context) caller() (*context, error) {
	f := c.frame.Physical
	if c.frame.Type == frame.TailCall || f.Type() != frame.Normal && f.Type() != frame.OtherStack {
		return nil, ErrUnavailable
	}
	prev, err := f.Prev()
	if err != nil || prev == nil {
		return nil, ErrUnavailable
	}
	if t := prev.Type(); t != frame.Normal && t != frame.OtherStack {
		return nil, ErrUnavailable
	}
	function := c.scopes.list[0]
	entry, _ := function.Address(dwarf.AttrLowpc)
	if pc, ok := function.Address(dwarf.AttrEntrypc); ok {
		entry = pc
	}
	if entry == 0 {
		if start, ok := f.Function(); ok {
			entry = start - c.scopes.bias
		}
	}
	// If the function was entered by a tail call, the registers were those of the function that jumped.
	calls := c.r.Symbols.TailCalls(c.r.Modules, prev.PC(), entry+c.scopes.bias)
	if calls.Target != 0 || len(calls.Calls) > 0 || calls.Err != nil {
		return nil, fmt.Errorf("the function was entered by a tail call: %w", ErrUnavailable)
	}
	block := prev.AddressInBlock()
	s := c.r.at(block)
	if s.err != nil || len(s.list) == 0 {
		return nil, ErrUnavailable
	}
	out := &context{r: c.r, mem: c.mem, scopes: s, pc: block - s.bias, nested: c.nested + 1}
	out.frame.Physical, out.frame.PC, out.frame.AddressInBlock, out.frame.Type = prev, prev.PC(), block, prev.Type()
	return out, nil
}

// callSite returns the entry of the call that returns to a link-time address; nil if there is none.
func (s *scopes) callSite(ret uint64) *symbol.Entry {
	for i := len(s.list) - 1; i >= 0; i-- {
		for _, e := range s.list[i].Entries {
			switch e.Tag {
			case dwarf.TagCallSite, tagGNUCallSite:
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
