package show

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/report"
)

// reportHeading prints what is known of the process and of the machine:
//
//	Process 4242 (C:\crashme.exe) died of EXCEPTION_ACCESS_VIOLATION_READ at address 0x45
//	Windows NT 6.1.7600 on x86 (GenuineIntel family 6 model 26 stepping 5), 16 processors
func (p *textPrinter) reportHeading(d *report.Document) {
	r := d.CrashReport
	text := "Process"
	if d.PID != 0 {
		text += fmt.Sprintf(" %d", d.PID)
	}
	if d.Exe != "" {
		text += fmt.Sprintf(" (%s)", d.Exe)
	}
	if r.Crash != nil {
		text += " died of " + r.Crash.String()
		if r.Crash.Address.Known {
			text += fmt.Sprintf(" at address %#x", r.Crash.Address.V)
		}
		text += inHandlers(d.Handlers, false)
	} else {
		text += ": no crash"
		if r.Stopped != nil {
			text += " (" + r.Stopped.String() + ")"
		}
	}
	p.styled(bold, text)
	p.Byte('\n')
	p.lastWords(d.LastWords, "", r.Crash == nil)
	if a := r.Assertion; a != nil {
		p.styled(red, fmt.Sprintf("Assertion failed: %s in %s at %s:%d", a.Expression, a.Function, a.File, a.Line))
		p.Byte('\n')
	}
	if s := r.System; s != nil {
		// Linux's uname(2) begins with its name.
		text := fmt.Sprintf("%s on %s", strings.TrimSpace(s.OS+" "+strings.TrimPrefix(s.Release, s.OS+" ")), s.Processor)
		if s.Details != "" {
			text += " (" + s.Details + ")"
		}
		switch s.Processors {
		case 0: // not known
		case 1:
			text += ", 1 processor"
		default:
			text += fmt.Sprintf(", %d processors", s.Processors)
		}
		p.Text(text)
		p.Byte('\n')
	}
	for _, a := range r.Annotations {
		p.MakeRoom()
		if a.Name == "" {
			p.Text("note: " + a.Value)
		} else {
			p.Text(a.Name + ": " + a.Value)
		}
		p.Byte('\n')
	}
	p.Byte('\n')
}

// modules prints the modules, one a line, also modules whose symbols lack.
func (p *textPrinter) modules(list []report.ModuleEntry) {
	if len(list) == 0 {
		return
	}
	p.Own("\nModules:\n")
	for i := range list {
		m := &list[i]
		p.MakeRoom()
		p.Own("  ")
		p.begin(blue)
		p.Hex(m.Base.V, p.digits)
		p.Own("-")
		p.Hex(m.End.V, p.digits)
		p.plain()
		p.Byte(' ')
		p.styled(green, m.Name)
		for _, x := range []string{m.Version, m.DebugID} {
			if x != "" {
				p.Text(" " + x)
			}
		}
		if m.Symbols == "none" {
			p.styled(red, " (no symbols)")
		}
		p.Byte('\n')
	}
}
