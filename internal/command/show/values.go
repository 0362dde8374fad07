package show

import (
	"github.com/sfwalk/sfwalk/internal/command/report"
)

// locals prints the local variables of a frame, and the values of expressions.
func (p *textPrinter) locals(f *report.Frame) {
	defer func() {
		for _, v := range f.Print {
			p.Text("        ")
			p.Text(v.Line)
			p.Byte('\n')
		}
	}()
	switch {
	case f.NoValues && f.WantsLocals:
		p.Text("No symbol table info available.")
		p.Byte('\n')
		return
	case f.Spent && f.HasArguments:
		p.Text("        ...")
		p.Byte('\n')
		return
	case !f.HasLocals:
		return
	case len(f.LocalLines) == 0:
		p.Text("No locals.")
		p.Byte('\n')
	}
	for i := range f.LocalLines {
		l := &f.LocalLines[i]
		p.Text("        ")
		p.Bytes(l.Text)
		p.Byte('\n')
		if l.Why != "" {
			p.styled(faint, "          "+l.Why)
			p.Byte('\n')
		}
	}
}
