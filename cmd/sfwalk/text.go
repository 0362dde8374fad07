package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/trad"
)

// printStacks walks a target and writes its stacks as text, each as soon as it is
// walked, and says whether every one is whole.
func printStacks(out io.Writer, s *source, symbols *symbol.Symbolizer, flags *walkFlags) (whole bool, err error) {
	threads, err := s.threads(flags)
	if err != nil {
		return false, err
	}
	doc := &document{Threads: make([]thread, len(threads))} // without frames
	s.about(doc)
	for i, th := range threads {
		doc.Threads[i] = thread{TID: th.ID(), Name: th.Name()}
		if s.mark != nil {
			s.mark(th, &doc.Threads[i])
		}
	}
	head := printer{color: flags.useColor(out)}
	head.heading(doc)
	if _, err := out.Write(head.buf); err != nil {
		return false, err
	}

	var workers []func(int) *printer
	walkers := newWalkers(s, symbols, flags, len(threads))
	used := make(chan *printer, len(walkers))
	for _, w := range walkers {
		workers = append(workers, func(i int) *printer {
			var p *printer
			select {
			case p = <-used:
			default:
				p = &printer{color: head.color, buf: make([]byte, 0, printed)}
				if len(walkers) == 1 {
					p.out = out // nobody has to wait for anybody
				}
			}
			if i > 0 {
				p.byte('\n')
			}
			p.thread(&doc.Threads[i], doc.Signal)
			level := 0
			th := w.thread(threads[i], func(f *frame.Frame) { level += p.frame(w, level, f) })
			p.end(&th)
			p.whole = th.whole
			return p
		})
	}
	whole = true
	err = inOrder(len(threads), workers, func(p *printer) error {
		whole = whole && p.whole
		p.out = out
		p.flush()
		if p.err != nil {
			return p.err
		}
		if len(walkers) > 1 {
			p.out = nil
		}
		select {
		case used <- p:
		default:
		}
		return nil
	})
	return whole, err
}

// printer makes text.
type printer struct {
	color bool
	out   io.Writer // where it goes; nil where it must be kept until it is its turn
	err   error     // of out
	full  [][]byte  // what comes before buf
	buf   []byte
	room  []frm // for the frames of one place
	whole bool  // the stack is
}

// printed is how much text lies together; to let a buffer grow with a deep stack
// would copy it again and again.
const printed = 32 << 10

// makeRoom begins another buffer where this one is nearly full.
func (p *printer) makeRoom() {
	switch {
	case len(p.buf) <= printed-printed/8:
	case p.out != nil:
		p.flush()
	default:
		p.full = append(p.full, p.buf)
		p.buf = make([]byte, 0, printed)
	}
}

// flush writes what there is.
func (p *printer) flush() {
	for _, text := range append(p.full, p.buf) {
		if p.err == nil {
			_, p.err = p.out.Write(text)
		}
	}
	p.full, p.buf = nil, p.buf[:0]
}

func (p *printer) byte(b byte)     { p.buf = append(p.buf, b) }
func (p *printer) text(s string)   { p.buf = append(p.buf, s...) }
func (p *printer) number(n uint64) { p.buf = strconv.AppendUint(p.buf, n, 10) }

// hex writes a number of that many digits at least: "0x001f".
func (p *printer) hex(v uint64, digits int) {
	const all = "0123456789abcdef"
	p.text("0x")
	for digits < 16 && v>>(4*digits) != 0 {
		digits++
	}
	for digits--; digits >= 0; digits-- {
		p.byte(all[v>>(4*digits)&15])
	}
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

// begin and plain surround text of a style, which must not be empty.
func (p *printer) begin(style string) {
	if p.color {
		p.text("\x1b[" + style + "m")
	}
}

func (p *printer) plain() {
	if p.color {
		p.text("\x1b[m")
	}
}

func (p *printer) styled(style, text string) {
	if text != "" {
		p.begin(style)
		p.text(text)
		p.plain()
	}
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
	p.byte('\n')
}

// thread prints what comes before the frames of a thread.
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
	p.byte('\n')
}

// end prints what comes behind them.
func (p *printer) end(t *thread) {
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
	p.byte('\n')
}

// frame prints a physical frame and the calls inlined there, the innermost at a
// level, and returns how many that are.
func (p *printer) frame(w *walker, level int, f *frame.Frame) int {
	p.makeRoom()
	s := w.spot(f)
	plain := f.Type() == frame.Normal && !w.flags.registers && !w.flags.explain && f.Row().Flags&trad.Guess == 0
	if s.text == nil || !plain {
		p.room = w.appendFrame(p.room[:0], level, f)
	}
	if !plain {
		for i := range p.room {
			p.detailed(&p.room[i])
		}
		return len(p.room)
	}
	if s.text == nil { // what most frames there have in common
		for i := range p.room {
			before := len(p.buf)
			p.place(&p.room[i])
			s.text = append(s.text, string(p.buf[before:]))
			p.buf = p.buf[:before]
		}
	}
	for i, text := range s.text {
		p.level(level + i)
		if i == 0 {
			p.address(f.PC())
		}
		p.text(text)
		p.byte('\n')
	}
	return len(s.text)
}

// level prints "#0  ", "#10 " or "#100 ", as gdb does.
func (p *printer) level(n int) {
	p.byte('#')
	before := len(p.buf)
	p.number(uint64(n))
	for p.byte(' '); len(p.buf) < before+3; {
		p.byte(' ')
	}
}

func (p *printer) address(pc uint64) {
	p.begin(blue)
	p.hex(pc, 16)
	p.plain()
	p.text(" in ")
}

// detailed prints a frame of any kind and what else was asked for.
func (p *printer) detailed(f *frm) {
	p.level(f.Level)
	switch {
	case f.Type == frame.SigTramp.String():
		p.text("<signal handler called>")
	default:
		if !f.over { // as gdb, an address once for all calls inlined into one place
			p.address(f.PC.v)
		}
		p.place(f)
	}
	if f.Guess {
		p.styled(faint, " [guess]")
	}
	if f.MovedOn {
		p.styled(red, " [moved on]")
	}
	p.byte('\n')
	if f.ID != "" {
		p.styled(faint, "      id "+f.ID)
		p.byte('\n')
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
		p.text("?? ()")
	case f.Function == "":
		p.text("?? (")
		p.styled(green, f.Module)
		p.byte('+')
		p.hex(f.inFile, 1)
		p.byte(')')
	case f.File == "":
		p.styled(yellow, f.Function)
		if f.Offset != 0 {
			p.byte('+')
			p.hex(f.Offset, 1)
		}
		if f.Module != "" {
			p.text(" (")
			p.styled(green, f.Module)
			p.byte(')')
		}
	default:
		p.styled(yellow, f.Function)
		if f.args == symbol.ArgsNone {
			p.text(" () at ")
		} else {
			p.text(" (…) at ")
		}
		p.begin(green)
		p.text(f.File)
		p.byte(':')
		p.number(uint64(f.Line))
		p.plain()
	}
}

func (p *printer) explain(f *frm) {
	if f.Explain.Row == "" {
		p.text("      nobody claims the frame\n")
	} else {
		p.text("      " + f.Sniffer + ": " + f.Explain.Row + "\n")
	}
	for _, d := range f.Explain.Declined {
		p.styled(faint, "      "+d.Sniffer+" declined: "+d.Reason)
		p.byte('\n')
	}
}

func (p *printer) registers(regs []register) {
	for i, r := range regs {
		if i%3 == 0 {
			p.text("      ")
		}
		before := len(p.buf)
		p.buf = fmt.Appendf(p.buf, "%-7s %s", r.Name, r.Value)
		if i%3 == 2 || i == len(regs)-1 {
			p.byte('\n')
			continue
		}
		for p.byte(' '); len(p.buf) < before+28; {
			p.byte(' ')
		}
	}
}
