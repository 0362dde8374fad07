package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
)

// print writes the document and says whether every stack in it is whole.
func (d *document) print(w io.Writer, flags *walkFlags) error {
	out := bufio.NewWriter(w)
	if flags.json {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		if err := e.Encode(d); err != nil {
			return err
		}
	} else {
		p := printer{Writer: out, color: flags.useColor(w)}
		p.heading(d)
		for i := range d.Threads {
			if i > 0 {
				p.WriteByte('\n')
			}
			p.thread(&d.Threads[i], d.Signal)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	for i := range d.Threads {
		if !d.Threads[i].whole {
			return errEarly
		}
	}
	return nil
}

type printer struct {
	*bufio.Writer
	color bool
}

// The styles are gdb's: functions yellow, files green, addresses blue.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
	faint  = "2"
)

func (p *printer) styled(style, text string) {
	if p.color && text != "" {
		text = "\x1b[" + style + "m" + text + "\x1b[m"
	}
	p.WriteString(text)
}

// heading prints what there is to say of a process that is not simply alive:
// `Process 4242 (/usr/bin/x) died of SIGSEGV (SEGV_MAPERR) at address 0x0`.
func (p *printer) heading(d *document) {
	if d.Core == "" && d.Snapshot == "" && d.Remote == "" {
		return
	}
	text := "Process"
	if d.PID != 0 {
		text += fmt.Sprintf(" %d", d.PID)
	}
	if d.Exe != "" {
		text += fmt.Sprintf(" (%s)", d.Exe)
	}
	if s := d.Signal; s != nil {
		verb := " stopped by "
		if slices.ContainsFunc(d.Threads, func(t thread) bool { return t.Died }) {
			verb = " died of "
		}
		text += verb + s.Name
		if s.Code != "" {
			text += " (" + s.Code + ")"
		}
		if s.Address != nil {
			text += fmt.Sprintf(" at address %#x", s.Address.v)
		}
		if s.Sender != 0 {
			text += fmt.Sprintf(", sent by process %d", s.Sender)
		}
	}
	if d.Taken != "" {
		text += " as of " + d.Taken
	}
	p.styled(bold, text)
	p.WriteByte('\n')
}

func (p *printer) thread(t *thread, s *sig) {
	p.styled(bold, fmt.Sprintf("Thread %d", t.TID))
	if t.Name != "" {
		p.styled(bold, fmt.Sprintf(" %q", t.Name))
	}
	switch {
	case t.Died && s != nil:
		p.styled(red, " died of "+s.Name)
	case t.Stopped && s != nil:
		p.styled(bold, " stopped by "+s.Name)
	}
	p.WriteByte('\n')
	for i := range t.Frames {
		p.frame(&t.Frames[i])
	}
	switch {
	case t.whole && t.Stop == frame.Limit.String():
		p.styled(faint, "(more frames follow)")
	case t.whole:
		return
	case t.Stop == "":
		p.styled(red, "stop: "+t.Error)
	default:
		p.styled(red, "stop: "+t.Stop)
		if t.detail != "" {
			p.styled(faint, " ("+t.detail+")")
		}
	}
	p.WriteByte('\n')
}

func (p *printer) frame(f *frm) {
	fmt.Fprintf(p, "#%-3d", f.Level)
	switch {
	case f.Type == frame.SigTramp.String():
		p.WriteString("<signal handler called>")
	default:
		if !f.over { // as gdb, an address once for all calls inlined into one place
			p.styled(blue, fmt.Sprintf("%#016x", f.PC.v))
			p.WriteString(" in ")
		}
		p.place(f)
	}
	if f.Guess {
		p.styled(faint, " [guess]")
	}
	p.WriteByte('\n')
	if f.ID != "" {
		p.styled(faint, "      id "+f.ID)
		p.WriteByte('\n')
	}
	if f.Explain != nil {
		p.explain(f)
	}
	p.registers(f.Registers)
}

// place prints `leaf (…) at chain.c:8`, `main+0x1f (/usr/bin/x)` or
// `?? (/usr/bin/x+0x1139)`.
func (p *printer) place(f *frm) {
	switch {
	case f.Function == "" && f.Module == "":
		p.WriteString("?? ()")
	case f.Function == "":
		p.WriteString("?? (")
		p.styled(green, f.Module)
		fmt.Fprintf(p, "+%#x)", f.inFile)
	case f.File == "":
		p.styled(yellow, f.Function)
		if f.Offset != 0 {
			fmt.Fprintf(p, "+%#x", f.Offset)
		}
		if f.Module != "" {
			p.WriteString(" (")
			p.styled(green, f.Module)
			p.WriteByte(')')
		}
	default:
		p.styled(yellow, f.Function)
		if f.args == symbol.ArgsNone {
			p.WriteString(" () at ")
		} else {
			p.WriteString(" (…) at ")
		}
		p.styled(green, fmt.Sprintf("%s:%d", f.File, f.Line))
	}
}

func (p *printer) explain(f *frm) {
	if f.Explain.Row == "" {
		p.WriteString("      nobody claims the frame\n")
	} else {
		fmt.Fprintf(p, "      %s: %s\n", f.Sniffer, f.Explain.Row)
	}
	for _, d := range f.Explain.Declined {
		p.styled(faint, fmt.Sprintf("      %s declined: %s", d.Sniffer, d.Reason))
		p.WriteByte('\n')
	}
}

func (p *printer) registers(regs []register) {
	for i, r := range regs {
		if i%3 == 0 {
			p.WriteString("      ")
		}
		cell := fmt.Sprintf("%-7s %s", r.Name, r.Value)
		if i%3 == 2 || i == len(regs)-1 {
			p.WriteString(cell + "\n")
		} else {
			p.WriteString(cell + strings.Repeat(" ", max(1, 28-len(cell))))
		}
	}
}
