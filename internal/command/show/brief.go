package show

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/short"
)

// brief has text shorter to read: names are short, and frames of the standard library are left out.
// A frame's text waits until the frame further out is known, which has called it.
type brief struct {
	names *short.Names // of all printers
	hid   *atomic.Bool // frames were left out; nil if none are

	waiting bool       // for its caller
	kind    short.Kind // of the frame that waits
	text    []byte     // of the frame that waits
	hidden  int        // how many frames were left out since the last one that was printed
	after   bool       // the frame before the one that waits was left out
}

// newBrief returns what makes the text for out short, nil if it is not to be short.
func newBrief(out io.Writer, flags *report.Flags) *brief {
	on, hide := flags.Short(out)
	if !on {
		return nil
	}
	b := &brief{names: &flags.View.Brief.Names}
	if hide {
		b.hid = &flags.View.Brief.Hid
	}
	return b
}

// name returns the name of a frame's function as it is printed.
func (p *textPrinter) name(f *report.Frame) string {
	if p.brief == nil {
		return f.Function
	}
	return p.brief.names.Of(f.Function, f.File, f.File != "")
}

// file returns the source file of a frame as it is printed.
func (p *textPrinter) file(f *report.Frame) string {
	if p.brief == nil {
		return f.File
	}
	return short.File(f.File)
}

// folds reports whether frames may be left out.
func (p *textPrinter) folds() bool { return p.brief != nil && p.brief.hid != nil }

// kindOf returns whose code a frame is.
func kindOf(f *report.Frame) short.Kind {
	switch f.Type {
	case frame.Normal.String(), frame.Inline.String(), frame.TailCall.String():
		return short.KindOf(f.Function, f.File, f.Module)
	}
	return short.Program // a signal's: it says why the thread is there
}

// fold has the frame whose text begins there in the buffer wait for its caller, if the caller
// decides whether the frame is left out. Then the frame before is decided.
func (p *textPrinter) fold(begin, level int, kind short.Kind) {
	b := p.brief
	waits := level > 0 && kind != short.Program && kind != short.Starts
	if !b.waiting && b.hidden == 0 && !waits {
		return
	}
	text := p.Buf[begin:]
	if waits || b.waiting || b.hidden > 0 {
		text = append([]byte(nil), text...)
		p.Buf = p.Buf[:begin]
	}
	p.decide(kind)
	if waits {
		b.waiting, b.kind, b.text = true, kind, text
		return
	}
	p.gap()
	p.Buf = append(p.Buf, text...)
}

// decide prints the frame that waits, or leaves it out: its caller is of that kind.
func (p *textPrinter) decide(caller short.Kind) {
	b := p.brief
	if !b.waiting {
		b.after = false
		return
	}
	b.waiting = false
	if b.after = short.Hides(b.kind, caller, b.after); b.after {
		b.hidden++
		return
	}
	p.gap()
	p.Buf = append(p.Buf, b.text...)
}

// shownOf returns a stack without the frames that are left out; the stack itself if none are.
func shownOf(frames []report.Frame) []report.Frame {
	var kept []report.Frame
	after := false
	for i := range frames {
		caller := short.Program
		if i+1 < len(frames) {
			caller = kindOf(&frames[i+1])
		}
		after = frames[i].Level > 0 && short.Hides(kindOf(&frames[i]), caller, after)
		switch {
		case after && kept == nil:
			kept = append(make([]report.Frame, 0, len(frames)), frames[:i]...)
		case !after && kept != nil:
			kept = append(kept, frames[i])
		}
	}
	if kept == nil {
		return frames
	}
	return kept
}

// gap prints how many frames were left out before the next one.
func (p *textPrinter) gap() {
	b := p.brief
	if b.hidden == 0 {
		return
	}
	s := "s"
	if b.hidden == 1 {
		s = ""
	}
	p.styled(faint, fmt.Sprintf("    (%d frame%s of the standard library)", b.hidden, s))
	p.Byte('\n')
	b.hidden = 0
	b.hid.Store(true)
}

// unfold ends a stack: the frame that waits has no caller.
func (p *textPrinter) unfold() {
	if p.folds() {
		p.decide(short.Program)
		p.gap()
		p.brief.after = false
	}
}

// left says how to see the frames that were left out.
func (p *textPrinter) left() {
	if p.folds() && p.brief.hid.Load() {
		p.Byte('\n')
		p.styled(faint, "(frames of the standard library are left out: --full prints them)")
		p.Byte('\n')
	}
}
