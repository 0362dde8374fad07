package show

import (
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/report"
)

// source prints the source lines of a frame, and marks the frame's own line as Delve does.
func (p *textPrinter) source(f *report.Frame) {
	for _, l := range f.Source {
		mark := "     "
		if l.Line == f.Line {
			mark = "  => "
		}
		p.Text(mark)
		before := len(p.Buf)
		p.Number(uint64(l.Line))
		for n := len(p.Buf) - before; n < 5; n++ {
			p.Buf = append(p.Buf, 0)
			copy(p.Buf[before+1:], p.Buf[before:])
			p.Buf[before] = ' '
		}
		p.Text(": ")
		if l.Line == f.Line {
			p.styled(bold, expandTabs(l.Text))
		} else {
			p.styled(faint, expandTabs(l.Text))
		}
		p.Byte('\n')
	}
}

// expandTabs has a blank for the escape that a tab would be shown as: tabs are four columns wide.
func expandTabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }
