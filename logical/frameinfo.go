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
func (f *Frame) Info(table *frame.Table, symbols *symbol.Symbolizer) Info {
	info := PhysicalInfo(f.Physical, table, symbols)
	info.Level, info.Type, info.ID, info.PC = f.Level, f.Type, f.ID(), f.PC
	if i := slices.IndexFunc(info.Places, func(l symbol.Location) bool {
		return l.Function == f.Function && l.Start == f.Start && l.Inline == f.Inline
	}); i >= 0 {
		info.Places = info.Places[i:]
	} else {
		info.Places = []symbol.Location{f.Location}
	}
	if f.Type == frame.TailCall {
		info.Saved, info.SavedSP, info.CalledBy = nil, nil, nil // it had taken its frame down before it jumped
		if info.Language = ""; symbols != nil && f.Line > 0 {
			info.Language = symbols.Language(f.Physical.Stack().Modules(), f.AddressInBlock)
		}
	}
	switch {
	case f.Level == 0:
		info.CallerOf = nil
	case f.Over || f.Type == frame.TailCall:
		id := f.Physical.ID()
		info.CallerOf = &id
	}
	if f.Type == frame.Inline {
		outer := f.Level + 1
		info.InlinedInto, info.CalledBy, info.PreviousSP, info.SavedSP, info.Saved = &outer, nil, nil, nil, nil
		if v := f.Physical.Register(table.Arch.SP); v.Known() {
			info.PreviousSP = &v.Bits
		}
		if next := f.Physical.Next(); next != nil && next.Level >= 0 {
			info.saved(next, table.Arch)
		}
	}
	return info
}
