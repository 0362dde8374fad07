package logical

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
)

// Info returns what is known of a frame, as [PhysicalInfo] does. The frame of a tail call has the
// content of the physical frame to which it led, with a type, an ID and places of its own, and has
// saved nothing. The PREVIOUS of an inlined call is the frame that it is inlined into, as in GDB:
// PreviousSP and Saved are what that frame sees, that is, what the physical frame further in has
// left and saved. SavedPC is the address to which the function around the call returns.
func (this *Frame) Info(table *frame.Table, symbols *symbol.Symbolizer) Info {
	info := PhysicalInfo(this.Physical, table, symbols)
	info.Level, info.Type, info.ID, info.PC = this.Level, this.Type, this.ID(), this.PC
	if i := slices.IndexFunc(info.Places, func(l symbol.Location) bool {
		return l.Function == this.Function && l.Start == this.Start && l.Inline == this.Inline
	}); i >= 0 {
		info.Places = info.Places[i:]
	} else {
		info.Places = []symbol.Location{this.Location}
	}
	if this.Type == frame.TailCall {
		info.Saved, info.SavedSP, info.CalledBy = nil, nil, nil // it had taken its frame down before it jumped
		if info.Language = ""; symbols != nil && this.Line > 0 {
			info.Language = symbols.Language(this.Physical.Stack().Modules(), this.AddressInBlock)
		}
	}
	switch {
	case this.Level == 0:
		info.CallerOf = nil
	case this.Over || this.Type == frame.TailCall:
		id := this.Physical.ID()
		info.CallerOf = &id
	}
	if this.Type == frame.Inline {
		outer := this.Level + 1
		info.InlinedInto, info.CalledBy, info.PreviousSP, info.SavedSP, info.Saved = &outer, nil, nil, nil, nil
		if v := this.Physical.Register(table.Arch.SP); v.Known() {
			info.PreviousSP = &v.Bits
		}
		if next := this.Physical.Next(); next != nil && next.Level >= 0 {
			info.saved(next, table.Arch)
		}
	}
	return info
}
