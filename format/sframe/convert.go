package sframe

import "errors"

// Convert returns c as Contents of version v, and an error for each part that v cannot hold. It
// leaves out a function that v cannot hold whole, since a part of it would be a wrong answer. The
// Func of the error is the function's index in c. An error of the section as a whole (Func -1)
// means that a flag is lost, or everything; if everything is lost, the Contents are nil.
//
// V1 and V2 cannot hold Flex functions and signal frames. V1 cannot hold an undefined RA, repeat
// sizes other than 16, and s390x. V3 has no FramePointer flag. A section converted from another
// version to V3 gets FDEFuncStartPCRel, as all linkers write it. c is not changed; the result
// shares memory with it.
func (c *Contents) Convert(v Version) (*Contents, []*EncodeError) {
	out := *c
	out.Version = v
	out.Functions = nil
	var lost []*EncodeError
	flags, _, _ := limits(v)
	if v == V3 && c.Version != V3 {
		out.Flags |= FDEFuncStartPCRel
	}
	if gone := c.Flags & FramePointer &^ flags; gone != 0 {
		lost = append(lost, &EncodeError{Version: v, Func: -1, Entry: -1, Msg: "the flag " + gone.String()})
	}
	out.Flags &= flags
	e, err := newEncoder(&out)
	if err != nil {
		return nil, append(lost, asEncodeError(err))
	}
	var scratch []byte
	for i := range c.Functions {
		f := c.Functions[i]
		f.convert(c.Version, v)
		out.Functions = append(out.Functions, f)
		if scratch, _, err = e.appendFREs(scratch[:0], len(out.Functions)-1); err != nil {
			lost = append(lost, asEncodeError(err))
			lost[len(lost)-1].Func = i
			out.Functions = out.Functions[:len(out.Functions)-1]
		}
	}
	return &out, lost
}

func asEncodeError(err error) *EncodeError {
	var e *EncodeError
	errors.As(err, &e)
	return e
}

// convert turns f into the form of another version, as far as there is one.
func (f *Function) convert(from, to Version) {
	switch {
	case to == from:
	case to == V3:
		if len(f.Entries) == 0 {
			f.Type = FDEFlex // a Default one would be outermost
		}
	case from == V3:
		if len(f.Entries) == 0 && f.Type == FDEDefault && !f.Signal {
			f.Entries = []Entry{{RA: Rule{Kind: RuleUndefined}}}
		}
		f.Type = FDEDefault
	}
	switch {
	case f.PCType == PCMask:
	case to == V1:
		f.RepSize = 0
	}
}
