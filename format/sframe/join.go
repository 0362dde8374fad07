package sframe

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// ErrDiffer is returned for Contents that cannot be joined.
var ErrDiffer = errors.New("sframe: the sections to be joined differ")

// Join joins several sections, as a linker does: first the functions of the first part, then the
// functions of the next. All parts must have the same version, ABI, fixed offsets and auxiliary
// header; else the error wraps ErrDiffer. Convert makes the versions alike. The result has
// FDESorted, FramePointer if all parts have it, and FDEFuncStartPCRel if the first part has it. It
// shares memory with the parts.
func Join(parts ...*Contents) (*Contents, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: there are none", ErrDiffer)
	}
	out := *parts[0]
	out.Functions = slices.Clip(out.Functions)
	out.Flags |= FDESorted
	for i, p := range parts[1:] {
		for _, d := range [...]struct {
			differ bool
			what   string
			a, b   any
		}{
			{p.Version != out.Version, "version", out.Version, p.Version},
			{p.ABI != out.ABI, "ABI", out.ABI, p.ABI},
			{p.FixedFP != out.FixedFP, "fixed FP offset", out.FixedFP, p.FixedFP},
			{p.FixedRA != out.FixedRA, "fixed RA offset", out.FixedRA, p.FixedRA},
			{!bytes.Equal(p.AuxHeader, out.AuxHeader), "auxiliary header", out.AuxHeader, p.AuxHeader},
		} {
			if d.differ {
				return nil, fmt.Errorf("%w: %s of section 0 is %v, of section %d %v", ErrDiffer, d.what, d.a, i+1, d.b)
			}
		}
		if p.Flags&FramePointer == 0 {
			out.Flags &^= FramePointer
		}
		out.Functions = append(out.Functions, p.Functions...)
	}
	return &out, nil
}
