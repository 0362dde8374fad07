package report

import (
	"fmt"
	"strings"
	"time"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/command/address"
)

// CrashReport is what a minidump says beside its stacks; docs/json.md describes it.
type CrashReport struct {
	Minidump    string          `json:"minidump"` // the file
	Written     string          `json:"written,omitempty"`
	System      *systemEntry    `json:"system,omitempty"`
	Crash       *CrashEntry     `json:"crash,omitempty"`   // not present if the process did not crash
	Stopped     *CrashEntry     `json:"stopped,omitempty"` // why there is a dump of a process that did not crash
	Assertion   *assertionEntry `json:"assertion,omitempty"`
	Annotations []annotation    `json:"annotations,omitempty"`
	Unloaded    []ModuleEntry   `json:"unloaded_modules,omitempty"`
	Modules     []ModuleEntry   `json:"modules,omitempty"` // printed last: whether there are symbols is known then
}

type systemEntry struct {
	OS         string `json:"os"`
	Release    string `json:"release"`
	Processor  string `json:"processor"`
	Details    string `json:"details,omitempty"`
	Processors int    `json:"processors"`
}

// CrashEntry is why a process died, or was stopped for a dump.
type CrashEntry struct {
	Reason  string      `json:"reason"`
	Address address.Hex `json:"address"`
	TID     uint32      `json:"tid"`
}

type assertionEntry struct {
	Expression string `json:"expression"`
	Function   string `json:"function"`
	File       string `json:"file"`
	Line       int    `json:"line"`
}

type annotation struct {
	Module string `json:"module,omitempty"` // whose client noted it; "" for the process
	Name   string `json:"name"`
	Value  string `json:"value"`
}

// ModuleEntry is a module of a minidump.
type ModuleEntry struct {
	Name      string      `json:"name"`
	Base      address.Hex `json:"base"`
	End       address.Hex `json:"end"` // the first address behind it
	Version   string      `json:"version,omitempty"`
	DebugFile string      `json:"debug_file,omitempty"`
	DebugID   string      `json:"debug_id,omitempty"`
	CodeID    string      `json:"code_id,omitempty"`
	// Symbols is "symbols" if its symbol file was used, "file" if the file itself was, "none" if a
	// frame is in it and neither is at hand; not present if no frame is in it.
	Symbols string `json:"symbols,omitempty"`
}

// NewCrashReport describes a minidump, whose file is at path.
func NewCrashReport(path string, f *format.File) *CrashReport {
	r := &CrashReport{Minidump: path}
	if !f.Time.IsZero() {
		r.Written = f.Time.Format(time.RFC3339)
	}
	if s := &f.System; s.Known {
		r.System = &systemEntry{s.OS.String(), s.Release(), s.Processor.String(), s.Describe(), s.Processors}
	}
	if x := f.Exception; x != nil {
		met := &CrashEntry{f.Reason(), address.At(f.CrashAddress()), x.Thread}
		if f.Died() {
			r.Crash = met
		} else {
			r.Stopped = met
		}
	}
	if a := f.Assertion; a != nil {
		r.Assertion = &assertionEntry{a.Expression, a.Function, a.File, a.Line}
	}
	add := func(module string, list []format.Annotation) {
		for _, a := range list {
			r.Annotations = append(r.Annotations, annotation{module, a.Name, a.Value})
		}
	}
	add("", f.Annotations)
	for i := range f.Modules {
		m := &f.Modules[i]
		add(m.Name, m.Annotations)
		r.Modules = append(r.Modules, ModuleEntry{
			Name: m.Name, Base: address.At(m.Base), End: address.At(m.Base + m.Size), Version: m.Version,
			DebugFile: m.DebugFile(), DebugID: m.DebugID(f), CodeID: m.CodeID(f),
		})
	}
	for _, m := range f.Unloaded {
		r.Unloaded = append(r.Unloaded, ModuleEntry{Name: m.Name, Base: address.At(m.Base), End: address.At(m.Base + m.Size)})
	}
	return r
}

// reportHeading prints what is known of the process and of the machine:
//
//	Process 4242 (C:\crashme.exe) died of EXCEPTION_ACCESS_VIOLATION_READ at address 0x45
//	Windows NT 6.1.7600 on x86 (GenuineIntel family 6 model 26 stepping 5), 16 processors
func (p *textPrinter) reportHeading(d *Document) {
	r := d.CrashReport
	text := "Process"
	if d.PID != 0 {
		text += fmt.Sprintf(" %d", d.PID)
	}
	if d.Exe != "" {
		text += fmt.Sprintf(" (%s)", d.Exe)
	}
	if r.Crash != nil {
		text += fmt.Sprintf(" died of %s at address %#x", r.Crash.Reason, r.Crash.Address.V)
	} else {
		text += ": no crash"
		if r.Stopped != nil {
			text += " (" + r.Stopped.Reason + ")"
		}
	}
	p.styled(bold, text)
	p.Byte('\n')
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
		text += fmt.Sprintf(", %d processor", s.Processors)
		if s.Processors != 1 {
			text += "s"
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
func (p *textPrinter) modules(list []ModuleEntry) {
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
