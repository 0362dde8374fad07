package crash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/inturn"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
)

// breakpadPrinter writes what minidump_stackwalk -m writes: a record a line, with "|" between its
// fields.
type breakpadPrinter struct {
	inturn.Output
	dump  *format.File
	store string // of symbol files; "" for none
	index int    // of the thread that is being printed
	base  int    // how many frames of it were printed
}

// field adds a field. Characters that would end it are left out.
func (p *breakpadPrinter) field(text string) {
	p.Byte('|')
	p.Text(separators().Replace(text))
}

// separators takes out what separates fields and records. To make it takes more than to use it.
var separators = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("|", "", "\n", "") })

// fileName returns the last part of a path, of any system.
func fileName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// microdump reports whether the dump is one, of which minidump_stackwalk knows less.
func (p *breakpadPrinter) microdump() bool { return len(p.dump.Streams) == 0 }

func (p *breakpadPrinter) Heading(*report.Document) {
	f := p.dump
	s := &f.System
	microdump := p.microdump()
	p.Own("OS")
	release := s.Version
	if !microdump && s.Known {
		release = fmt.Sprintf("%d.%d.%d %s", s.Major, s.Minor, s.Build, s.Version)
	}
	if s.Known {
		p.field(s.OS.String())
	} else {
		p.field("")
	}
	p.field(release)
	p.Own("\nCPU")
	details := s.Describe()
	if x86 := s.Processor == format.X86 || s.Processor == format.AMD64; s.Known && x86 && details == "" && !microdump {
		details = "family 0 model 0 stepping 0"
	}
	if s.Known {
		p.field(s.Processor.String())
	} else {
		p.field("")
	}
	p.field(details)
	p.field(fmt.Sprint(s.Processors))
	graphics := strings.SplitN(s.Graphics, "|", 3)
	p.Own("\nGPU")
	for i := range 3 {
		p.field(strings.Join(graphics[min(i, len(graphics)):min(i+1, len(graphics))], ""))
	}
	p.Own("\n")
	p.crash()
	p.modules()
	p.Own("\n")
}

func (p *breakpadPrinter) crash() {
	f := p.dump
	p.Own("Crash")
	switch {
	case f.Exception != nil:
		reason := strings.Replace(f.Reason(), "SIGSEGV / ", "SIGSEGV /", 1) // as Breakpad has it
		if len(f.Streams) == 0 {
			reason = f.MicrodumpReason()
		}
		p.field(reason)
		p.field(fmt.Sprintf("%#x", f.CrashAddress()))
	case f.Assertion != nil:
		p.field(assertionText(f.Assertion))
		p.field("")
	default:
		p.field("No crash")
		p.field("")
	}
	thread := ""
	if id, ok := f.Requesting(); ok {
		n := 0
		for i := range f.Threads {
			x := &f.Threads[i]
			if x.ID == id {
				thread = fmt.Sprint(n)
				break
			}
			if x.ID != f.Breakpad.Handler || x.ID == 0 {
				n++
			}
		}
	}
	p.field(thread)
	p.Own("\n")
}

// assertionText returns Breakpad's sentence.
func assertionText(a *format.Assertion) string {
	text := map[uint32]string{1: "Invalid parameter passed to library function", 2: "Pure virtual function called"}[a.Type]
	if text == "" {
		text = fmt.Sprintf("Unknown assertion type 0x%08x", a.Type)
	}
	if a.Expression != "" {
		text += " (" + a.Expression + ")"
	}
	if a.Function != "" {
		text += " in function " + a.Function
	}
	if a.File != "" {
		text += " at " + a.File
		if a.Line != 0 {
			text += fmt.Sprintf(", line %d", a.Line)
		}
	}
	return text
}

func (p *breakpadPrinter) modules() {
	f := p.dump
	order := make([]*format.Module, len(f.Modules))
	for i := range f.Modules {
		order[i] = &f.Modules[i]
	}
	slices.SortStableFunc(order, func(a, b *format.Module) int { return cmp.Compare(a.Base, b.Base) })
	for _, m := range order {
		p.MakeRoom()
		p.Own("Module")
		p.field(fileName(m.Name))
		p.field(m.Version)
		p.field(fileName(m.DebugFile()))
		p.field(m.DebugID(f))
		p.field(fmt.Sprintf("0x%08x", m.Base))
		p.field(fmt.Sprintf("0x%08x", m.Base+m.Size-1))
		main := "0"
		if i := f.Main(); m.Base == f.Modules[i].Base && !p.microdump() {
			main = "1"
		}
		p.field(main)
		p.Own("\n")
	}
}

func (p *breakpadPrinter) Ending(*report.Document) {}

func (p *breakpadPrinter) Thread(d *report.Document, i int) { p.index, p.base = d.Threads[i].Index, 0 }

// Frames implements [report.Printer]: such frames are of stacks that cannot be walked.
func (p *breakpadPrinter) Frames(_ *report.Walker, list []report.Frame) {
	for i := range list {
		p.line(fileName(list[i].Module), "", "", "", list[i].InFile)
	}
}

func (p *breakpadPrinter) End(*report.Thread) {}

func (p *breakpadPrinter) Frame(w *report.Walker, _ int, f *frame.Frame) int {
	pc := f.PC() | f.Register(w.Target.Arch().PC).Bits&1 // Breakpad takes the bit of Thumb code for a part of the address
	m := w.Target.Modules().FindFile(f.AddressInBlock())
	if m == nil {
		p.line("", "", "", "", pc)
		return 1
	}
	name := fileName(m.Path)
	if symbols, _ := symbolstore.Open(p.store, m); p.store != "" && symbols != nil {
		list, _ := symbols.Locate(f.AddressInBlock() - symbols.Base)
		for _, l := range list {
			at := pc
			if l.Inlined {
				at = f.AddressInBlock() // as Breakpad has it
			}
			if l.File != "" {
				p.line(name, l.Function, l.File, fmt.Sprint(l.Line), at-symbols.Base-l.LineCode.Address)
			} else {
				p.line(name, l.Function, "", "", at-symbols.Base-l.Code.Address)
			}
		}
		if len(list) > 0 {
			return len(list)
		}
	} else if _, _, err := m.Image(); err == nil {
		at := w.Symbols.Locate(w.Target.Modules(), f.AddressInBlock())
		for _, l := range at {
			if l.NameFrom != "" {
				p.line(name, "", "", "", pc-m.Base()) // as minidump_stackwalk has it
				continue
			}
			line := ""
			if l.File != "" {
				line = fmt.Sprint(l.Line)
			}
			p.line(name, l.Function, l.File, line, pc-cmp.Or(l.Start, m.Base()))
		}
		return len(at)
	}
	p.line(name, "", "", "", pc-m.Base())
	return 1
}

// line prints a frame.
func (p *breakpadPrinter) line(module, function, file, line string, offset uint64) {
	p.Number(uint64(p.index))
	p.field(fmt.Sprint(p.base))
	for _, x := range []string{module, function, file, line} {
		p.field(x)
	}
	p.field(fmt.Sprintf("%#x", offset))
	p.Own("\n")
	p.base++
}
