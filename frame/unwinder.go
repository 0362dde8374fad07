package frame

import "github.com/sfwalk/sfwalk/trad"

// Unwinder is a Sniffer whose frames no row can describe. For the frames that it has
// claimed, the engine asks it for IDs and registers. Its row gives the CFA, and the rules for the
// registers that PrevRegister leaves open.
type Unwinder interface {
	Sniffer
	// Type returns the type of the frames that the sniffer claims.
	Type() Type
	// ThisID returns THIS frame's ID; a null ID stops the stack.
	ThisID(this *Frame) (ID, error)
	// PrevRegister returns the value of a register in PREVIOUS. The zero Value says that the
	// sniffer does not know it: then the row's rule counts, and if the row has none, the rule of
	// the first later sniffer whose row gives THIS the same CFA, as for a frame that a row unwinds.
	// Other values are final: with Lval NotSaved, the register is lost; with NotKnown and an Err,
	// it cannot be had, and Err says why.
	PrevRegister(this *Frame, r trad.Reg) Value
}

// byItsUnwinder returns the value of register r of PREVIOUS, if the winner is an Unwinder that does
// not leave the register to rows.
func (f *Frame) byItsUnwinder(r trad.Reg) (v Value, ok bool) {
	u, ok := f.unwinder()
	if !ok {
		return Value{}, false
	}
	defer f.stack.setAsked(asked{})()
	v = u.PrevRegister(f, r)
	return v, v.Lval != NotKnown || v.Err != nil
}

// thisID asks the Unwinder that claimed THIS for its ID.
func (f *Frame) thisID(u Unwinder) (ID, error) {
	defer f.stack.setAsked(asked{})()
	return u.ThisID(f)
}

// unwinder returns the sniffer that claimed THIS, if it is an Unwinder.
func (f *Frame) unwinder() (Unwinder, bool) {
	if f.winner < 0 || !f.byUnwinder {
		return nil, false
	}
	return f.stack.table.unwinders[f.winner], true
}
