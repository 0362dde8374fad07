package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/inturn"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/symbol"
)

// textPrinter writes for people.
type textPrinter struct {
	inturn.Output
	color       bool
	withModules bool           // behind files and lines, too
	room        []report.Frame // for the frames of one place
	process     string         // a line before the heading; "" for none
	byFrame     bool           // frames are selected: a thread without one is left out
	single      bool           // a thread is printed, and not a group of them
	any         bool           // a frame of the thread was printed
	begun       int            // Size before the thread
	// digits is how many an address has at least, as in gdb.
	digits int
	brief  *brief // nil if names are printed in full, and all frames
	headed int    // how much had been written when the thread's first line ended, bytes

	toldAlready bool   // what languages know of the thread was printed
	threadName  string // the system's name for the thread
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
func (p *textPrinter) begin(style string) {
	if p.color {
		p.Own("\x1b[" + style + "m")
	}
}

func (p *textPrinter) plain() {
	if p.color {
		p.Own("\x1b[m")
	}
}

func (p *textPrinter) styled(style, text string) {
	if text != "" {
		p.begin(style)
		p.Text(text)
		p.plain()
	}
}

// Heading prints what is known of a process, unless it is simply alive: `Process 4242 (/usr/bin/x)
// died of SIGSEGV (SEGV_MAPERR) at address 0x0`.
func (p *textPrinter) Heading(d *report.Document) {
	p.digits = d.Digits
	p.Own(p.process)
	if d.CrashReport != nil {
		p.reportHeading(d)
		return
	}
	if d.State == "stopped" {
		p.styled(bold, fmt.Sprintf("Process %d is stopped by a signal, such as SIGSTOP or Ctrl-Z", d.PID))
		p.Byte('\n')
	}
	if d.Core == "" && d.Snapshot == "" && d.Remote == "" {
		p.lastWords(d.LastWords, "", true)
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
		if d.Died {
			verb = " died of "
		}
		text += verb + s.Name
		handlers := d.Handlers
		own := s.Sender != 0 && s.Sender == d.PID
		for own && len(handlers) > 0 && handlers[0] != nil && handlers[0].Number == s.Number && handlers[0].Sender == d.PID {
			handlers = handlers[1:] // it has raised the signal twice, as Go does, whose own handler gets the first
		}
		raised := own && len(handlers) > 0
		if s.Code != "" && s.Sender == 0 { // the sender says more
			text += " (" + s.Code + ")"
		}
		if s.Address != nil {
			text += fmt.Sprintf(" at address %#x", s.Address.V)
		}
		if s.Sender != 0 && !raised {
			if own {
				text += ", sent by itself"
			} else {
				text += fmt.Sprintf(", sent by process %d", s.Sender)
			}
		}
		text += inHandlers(handlers, raised)
	}
	if d.Taken != "" {
		text += " as of " + d.Taken
	}
	p.styled(bold, text)
	p.Byte('\n')
	p.lastWords(d.LastWords, "", !d.Died)
}

// mostHandlers is how many handlers the first line names if there are more: the innermost ones, and
// the outermost, which was called first.
const mostHandlers = 4

// inHandlers says in which signals' handlers a thread was: ", raised in the handler of SIGSEGV at
// 0x0". raised says that the process has sent itself the signal that it died of. A handler that
// crashes itself may be called thousands of times: equal neighbours are one.
func inHandlers(list []*report.Signal, raised bool) string {
	var runs []string
	for i := 0; i < len(list); {
		text, end := handlerOf(list[i]), i+1
		for end < len(list) && handlerOf(list[end]) == text {
			end++
		}
		if n := end - i; n > 1 {
			text += fmt.Sprintf(" (%d times)", n)
		}
		runs, i = append(runs, text), end
	}
	if left := len(runs) - mostHandlers; left > 1 {
		runs = slices.Concat(runs[:mostHandlers-1], []string{count.Of(left, "other handler")}, runs[len(runs)-1:])
	}
	if len(runs) == 0 {
		return ""
	}
	if raised {
		runs[0] = "raised in " + runs[0]
	} else {
		runs[0] = "in " + runs[0]
	}
	return ", " + strings.Join(runs, ", in ")
}

// handlerOf names the handler of a signal, which may be nil.
func handlerOf(s *report.Signal) string {
	if s == nil {
		return "a signal handler"
	}
	return "the handler of " + s.Text()
}

// crashed names the threads that are in the handler of a crash, of a process that still runs.
func (p *textPrinter) crashed(d *report.Document) {
	if d.Signal != nil || d.CrashReport != nil {
		return // the heading has it
	}
	for i := range d.Crashed {
		if i == 0 {
			p.Byte('\n')
		}
		t := &d.Crashed[i]
		p.styled(red, "in the handler of "+t.Crashed.Text())
		p.Text(": thread " + strconv.Itoa(t.TID))
		if t.Name != "" {
			p.Text(" " + strconv.Quote(t.Name))
		}
		p.Byte('\n')
	}
}

func (p *textPrinter) Ending(d *report.Document) {
	p.crashed(d)
	p.deadlocks(d)
	p.asleep(d.Asleep)
	p.left()
	if d.CrashReport != nil {
		p.modules(d.Modules)
	}
}

func (p *textPrinter) Thread(d *report.Document, i int) {
	t, s := &d.Threads[i], d.Signal
	p.digits = d.Digits
	p.begun, p.single, p.any = p.Size(), true, false
	if i > 0 {
		p.Byte('\n')
	}
	p.styled(bold, "Thread "+strconv.Itoa(t.TID))
	if t.Name != "" {
		p.styled(bold, " "+strconv.Quote(t.Name))
	}
	switch {
	case t.Died:
		p.died(d)
	case t.Stopped && s != nil:
		p.styled(bold, " stopped by "+s.Name)
	}
	if t.Kernel != "" {
		p.Text(" is the kernel's, " + t.Kernel + ": it has no user stack")
	}
	p.Byte('\n')
	p.headed = p.Size()
	p.waiting(t.WaitsFor)
	p.toldAlready, p.threadName = false, t.Name
}

// died prints that a thread, or the thread of a goroutine, died: " died of SIGSEGV".
func (p *textPrinter) died(d *report.Document) {
	switch {
	case d.CrashReport != nil && d.Crash != nil:
		p.styled(red, " died of "+d.Crash.Name())
	case d.Signal != nil:
		p.styled(red, " died of "+d.Signal.Name)
	}
}

func (p *textPrinter) End(t *report.Thread) {
	if p.single {
		p.told(t.Languages) // if it has no frame
	}
	p.unfold()
	if p.byFrame && p.single && !p.any { // the thread has no frame that the flags name
		p.Drop(p.begun)
		return
	}
	p.threadWords(t.LastWords, p.headed)
	switch {
	case t.Whole && t.Stop == frame.Limit.String():
		p.styled(faint, "(more frames follow)")
	case t.Whole:
		return
	case t.Stop == "":
		p.styled(red, "stop: "+t.Error)
	default:
		p.styled(red, "stop: "+t.Stop)
		if t.Detail != "" {
			p.styled(faint, " ("+t.Detail+")")
		}
	}
	p.Byte('\n')
}

func (p *textPrinter) Frame(w *report.Walker, level int, f *frame.Frame) int {
	p.told(w.Told)
	p.room = w.AppendTailCalls(p.room[:0], level, f)
	jumped := len(p.room)
	for i := range p.room {
		p.selected(w, &p.room[i])
	}
	return jumped + p.ownFrame(w, level+jumped, f)
}

// ownFrame is frame without the frames that left by tail calls.
func (p *textPrinter) ownFrame(w *report.Walker, level int, f *frame.Frame) int {
	s, code := w.CodeInfo(f)
	plain := w.Plain(f) && !w.Named(f, code)
	if s.Texts == nil || !plain {
		p.room = w.AppendOwn(p.room[:0], level, f)
	}
	if !plain {
		for i := range p.room {
			p.selected(w, &p.room[i])
		}
		return report.Levels(p.room)
	}
	if s.Texts == nil { // the text that most frames at this PC share
		for i := range p.room {
			before := len(p.Buf)
			p.place(&p.room[i])
			s.Texts = append(s.Texts, string(p.Buf[before:]))
			if p.folds() {
				s.Kinds = append(s.Kinds, kindOf(&p.room[i]))
			}
			p.Buf = p.Buf[:before]
		}
	}
	for i, text := range s.Texts {
		begin := len(p.Buf)
		p.level(level + i)
		if i == 0 {
			p.address(f.PC())
		}
		p.Own(text)
		p.Byte('\n')
		if s.Kinds != nil {
			p.fold(begin, level+i, s.Kinds[i])
		}
	}
	return len(s.Texts)
}

// level prints "#0  ", "#10 " or "#100 ", as gdb does.
func (p *textPrinter) level(n int) {
	p.Byte('#')
	before := len(p.Buf)
	p.Number(uint64(n))
	p.Byte(' ')
	p.pad(before + 3)
}

func (p *textPrinter) address(pc uint64) {
	p.begin(blue)
	p.Hex(pc, p.digits)
	p.plain()
	p.Text(" in ")
}

// Frames implements [report.Printer].
func (p *textPrinter) Frames(w *report.Walker, list []report.Frame) {
	p.told(w.Told)
	for i := range list {
		p.MakeRoom()
		p.selected(w, &list[i])
	}
}

// selected prints a frame if the flags ask for it.
func (p *textPrinter) selected(w *report.Walker, f *report.Frame) {
	if !w.Flags.Shows(f) {
		return
	}
	if w.Flags.Values.Selects(f.Level, f.Function) {
		p.any = true
		begin := len(p.Buf)
		p.detailed(f)
		if p.folds() {
			p.fold(begin, f.Level, kindOf(f))
		}
	}
}

// detailed prints a frame of any kind, with all that the flags ask for.
func (p *textPrinter) detailed(f *report.Frame) {
	p.level(f.Level)
	switch {
	case f.Type == frame.SigTramp.String():
		p.signal(f.Signal)
	case f.Type == frame.Dummy.String():
		p.Text("<function called from sfwalk>")
	case f.Type == report.Language:
		p.languageFrame(f)
	default:
		if !f.Over { // as gdb, an address once for all calls inlined into one place
			p.address(f.PC.V)
		}
		p.place(f)
	}
	p.marks(f)
	p.Byte('\n')
	if f.ID != "" {
		p.styled(faint, "      id "+f.ID)
		p.Byte('\n')
	}
	if f.ID != "" && f.Type == frame.Inline.String() {
		p.styled(faint, fmt.Sprintf("      inlined into frame %d", f.Level+1))
		p.Byte('\n')
	}
	if f.TailCall != "" {
		p.styled(faint, "      "+f.TailCall)
		p.Byte('\n')
	}
	if f.ID != "" {
		p.decorator(f)
	}
	if f.Explain != nil {
		p.explain(f)
	}
	p.registers(f.Registers)
	p.locals(f)
	p.holds(f)
	p.source(f)
}

// signal prints `<signal handler called: SIGSEGV at 0x0>`.
func (p *textPrinter) signal(s *report.Signal) {
	p.Text("<signal handler called")
	if s != nil {
		text, at, rest := s.Text(), "", ""
		if s.Address != nil && p.color {
			at = fmt.Sprintf("%#x", s.Address.V)
			if before, behind, ok := strings.Cut(text, at); ok {
				text, rest = before, behind
			} else {
				at = ""
			}
		}
		p.Text(": " + text)
		p.styled(blue, at)
		p.Text(rest)
	}
	p.Byte('>')
}

// marks prints how a frame differs from others.
func (p *textPrinter) marks(f *report.Frame) {
	if f.Guess {
		p.styled(faint, " [guess]")
	}
	if f.Type == frame.TailCall.String() {
		p.styled(faint, " [tail call]")
	}
	if f.Type == frame.OtherStack.String() {
		p.styled(faint, " [stack switch]")
	}
	if f.MovedOn {
		p.styled(red, " [moved on]")
	}
}

// place prints `leaf (…) at chain.c:8`, `main+0x1f (/usr/bin/x)`, `main+0x1f (argc=1) (/usr/bin/x)`
// or `?? (/usr/bin/x+0x1139)`.
func (p *textPrinter) place(f *report.Frame) {
	switch {
	case f.Function == "" && f.Module == "":
		p.Text("?? ()")
	case f.Function == "":
		p.Text("?? (")
		p.styled(green, f.Module)
		p.Byte('+')
		p.Hex(f.InFile, 1)
		p.Byte(')')
	case f.File == "":
		p.styled(yellow, p.name(f))
		if f.Offset != 0 {
			p.Byte('+')
			p.Hex(f.Offset, 1)
		}
		if len(f.Arguments) > 0 {
			p.Text(" (")
			p.Bytes(f.Arguments)
			p.Byte(')')
		}
		if f.Module != "" {
			p.Text(" (")
			p.styled(green, f.Module)
			p.Byte(')')
		}
	default:
		p.styled(yellow, p.name(f))
		switch {
		case f.HasArguments:
			p.Text(" (")
			p.Bytes(f.Arguments)
			p.Text(") at ")
		case f.Params == symbol.ArgsNone:
			p.Text(" () at ")
		default:
			p.Text(" (…) at ")
		}
		p.begin(green)
		p.Text(p.file(f))
		if f.Line > 0 {
			p.Byte(':')
			p.Number(uint64(f.Line))
		}
		p.plain()
		if p.withModules && f.Module != "" {
			p.Text(" (")
			p.styled(green, f.Module)
			p.Byte(')')
		}
	}
}

func (p *textPrinter) explain(f *report.Frame) {
	if f.Explain.Row == "" {
		p.Text("      no sniffer claims the frame")
	} else {
		p.Text("      " + f.Sniffer + ": " + f.Explain.Row)
	}
	p.Byte('\n')
	var said []string
	for i, d := range f.Explain.Declined {
		if slices.Contains(said, d.Reason) {
			continue
		}
		said = append(said, d.Reason)
		names := d.Sniffer
		for _, other := range f.Explain.Declined[i+1:] {
			if other.Reason == d.Reason {
				names += ", " + other.Sniffer
			}
		}
		p.styled(faint, "      "+names+" declined: "+d.Reason)
		p.Byte('\n')
	}
	for _, line := range f.Explain.Lines() {
		p.styled(faint, "      "+line)
		p.Byte('\n')
	}
}

func (p *textPrinter) registers(regs []report.Register) {
	for i, r := range regs {
		if i%3 == 0 {
			p.Text("      ")
		}
		before := len(p.Buf)
		p.Text(r.Name)
		p.pad(before + 7)
		p.Byte(' ')
		p.Text(r.Value)
		if i%3 == 2 || i == len(regs)-1 {
			p.Byte('\n')
			continue
		}
		p.Byte(' ')
		p.pad(before + 28)
	}
}

// pad writes blanks until the output has to bytes.
func (p *textPrinter) pad(to int) {
	for len(p.Buf) < to {
		p.Byte(' ')
	}
}
