package crash

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// infoPrinter writes what is in a dump.
type infoPrinter struct {
	dump *format.File
	out  bytes.Buffer
}

// printInfo writes what is in a dump, stream by stream.
func printInfo(out io.Writer, dump *format.File) error {
	p := &infoPrinter{dump: dump}
	p.streams()
	p.process()
	p.exception()
	p.threads()
	p.modules()
	p.memory()
	p.notes()
	_, err := out.Write(p.out.Bytes())
	return err
}

// line prints a line. Its arguments may be the dump's.
func (p *infoPrinter) line(format string, args ...any) {
	printable.Fprintf(&p.out, format+"\n", args...)
}

// address returns an address with the digits of one.
func (p *infoPrinter) address(a uint64) string {
	return fmt.Sprintf("0x%0*x", p.dump.System.Processor.AddressBits()/4, a)
}

func (p *infoPrinter) streams() {
	if !p.dump.Time.IsZero() {
		p.line("written %s", p.dump.Time.Format(time.RFC3339))
	}
	p.line("flags   %#x", p.dump.Flags)
	p.line("\nStreams:")
	for _, s := range p.dump.Streams {
		p.line("  %-26v %#010x bytes at %#x", s.Type, s.Size, s.Offset)
	}
}

func (p *infoPrinter) process() {
	if s := &p.dump.System; s.Known {
		p.line("\n%s", strings.TrimSpace(fmt.Sprintf("System: %v %s", s.OS, strings.TrimPrefix(s.Release(), s.OS.String()+" "))))
		text := fmt.Sprint("  processor ", s.Processor)
		if d := s.Describe(); d != "" {
			text += ", " + d
		}
		if s.Processors > 0 {
			text += fmt.Sprintf(", %d of them", s.Processors)
		}
		p.line("%s", text)
	}
	if pid := p.dump.PID(); pid != 0 {
		p.line("\nProcess %d", pid)
		if m := &p.dump.Misc; !m.Created.IsZero() {
			p.line("  begun %s, %d s in user mode, %d s in the kernel", m.Created.Format(time.RFC3339), m.User, m.Kernel)
		}
	}
}

func (p *infoPrinter) exception() {
	list := exceptionsOf(p.dump)
	for i := range list {
		x := &list[i]
		at := ""
		if p.dump.HasAddress(x) {
			at = fmt.Sprintf(" at %#x", p.dump.AddressOf(x))
		}
		p.line("\nException in thread %d: %s%s", x.Thread, p.dump.ReasonOf(x), at)
		p.line("  code %#x, flags %#x, record %#x, address %#x, parameters %#x", x.Code, x.Flags, x.Record, x.Address, x.Params)
		if x.Context.Size > 0 {
			p.registers(x.Context)
		}
	}
	if a := p.dump.Assertion; a != nil {
		p.line("\nAssertion: %s in %s at %s:%d", a.Expression, a.Function, a.File, a.Line)
	}
	if b := p.dump.Breakpad; b.Handler != 0 || b.Requesting != 0 {
		p.line("\nThe dump was written by thread %d, for thread %d", b.Handler, b.Requesting)
	}
}

func (p *infoPrinter) registers(context format.Location) {
	regs, err := p.dump.Registers(context)
	if err != nil {
		p.line("  no registers: %v", err)
		return
	}
	text := ""
	for i, r := range regs {
		if i > 0 && i%4 == 0 {
			p.line("  %s", text)
			text = ""
		}
		text += fmt.Sprintf(" %6s %0*x", r.Name, r.Bits/4, r.Value)
	}
	p.line("  %s", text)
}

func (p *infoPrinter) threads() {
	for i := range p.dump.Threads {
		t := &p.dump.Threads[i]
		p.line("\nThread %d %q", t.ID, t.Name)
		p.line("  stack %#x, %#x bytes", t.Stack.Lo, t.Stack.Size)
		p.registers(t.Context)
	}
}

func (p *infoPrinter) modules() {
	f := p.dump
	p.line("\nModules:")
	for i := range f.Modules {
		m := &f.Modules[i]
		p.line("  %s-%s %s", p.address(m.Base), p.address(m.Base+m.Size), m.Name)
		if m.Version != "" {
			p.line("    version    %s", m.Version)
		}
		if id := m.DebugID(f); id != "" {
			p.line("    symbols    %s %s", m.DebugFile(), id)
		}
		if id := m.CodeID(f); id != "" {
			p.line("    identifier %s", id)
		}
		for _, a := range m.Annotations {
			p.line("    %s: %s", a.Name, a.Value)
		}
	}
	if len(f.Unloaded) > 0 {
		p.line("\nUnloaded modules:")
	}
	for _, m := range f.Unloaded {
		p.line("  %s-%s %s", p.address(m.Base), p.address(m.Base+m.Size), m.Name)
	}
}

func (p *infoPrinter) memory() {
	p.line("\nMemory in the dump:")
	for _, r := range p.dump.Ranges() {
		p.line("  %s-%s at %#x", p.address(r.Lo), p.address(r.Lo+r.Size), r.Offset)
	}
	if len(p.dump.Regions) > 0 {
		p.line("\nMemory of the process:")
	}
	for _, r := range p.dump.Regions {
		p.line("  %s-%s state %#x, protection %#x, type %#x", p.address(r.Lo), p.address(r.Lo+r.Size), r.State, r.Protection, r.Type)
	}
}

func (p *infoPrinter) notes() {
	f := p.dump
	if c := f.Crashpad; c != nil {
		p.line("\nCrashpad: report %s, client %s", c.ReportID, c.ClientID)
	}
	if len(f.Annotations) > 0 {
		p.line("\nAnnotations:")
	}
	for _, a := range f.Annotations {
		p.line("  %s: %s", a.Name, a.Value)
	}
	if f.Comment != "" {
		p.line("\nComment: %s", f.Comment)
	}
	for _, x := range []struct {
		name string
		text []byte
	}{
		{"/proc/cpuinfo", f.Linux.CPUInfo}, {"/proc/PID/status", f.Linux.Status}, {"/etc/lsb-release", f.Linux.LSBRelease},
		{"/proc/PID/cmdline", f.Linux.CommandLine}, {"/proc/PID/environ", f.Linux.Environment}, {"/proc/PID/maps", f.Linux.Maps},
	} {
		if len(x.text) == 0 {
			continue
		}
		p.line("\n%s:", x.name)
		for line := range bytes.Lines(bytes.ReplaceAll(x.text, []byte{0}, []byte{'\n'})) {
			p.line("  %s", bytes.TrimSuffix(line, []byte("\n")))
		}
	}
}
