package gostack

import (
	"bytes"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// crosscall1 returns the row of crosscall1, a function of C.
func (p *program) crosscall1(q *frame.Query) (trad.Row, frame.Answer) {
	c := p.m.Crosscall1
	if c == nil || q.Innermost() || !bytes.Equal(q.Read(q.PC-c.Call, len(c.Code)), c.Code) {
		return trad.Row{}, noFunction
	}
	row := c.Row
	row.Lo, row.Len = q.AddressInBlock, 1
	return row, frame.Claimed
}
