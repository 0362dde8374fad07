package command

import (
	"io"
	"strconv"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/symbol"
)

// printer writes stacks, as text or as JSON, to its page.
type printer interface {
	// heading writes what comes before all threads, whose frames are not known yet,
	// and ending what comes behind them.
	heading(d *document)
	ending()
	// thread writes what comes before the frames of the i-th thread, and end what
	// comes behind them.
	thread(d *document, i int)
	end(t *thread)
	// frame writes a physical frame and the calls inlined there, the innermost at a
	// level, and returns how many that are.
	frame(w *walker, level int, f *frame.Frame) int

	sheet() *page
}

// printer returns a new printer of what the flags ask for.
func (w *walkFlags) printer(out io.Writer) printer {
	if w.json {
		return newJSONPrinter()
	}
	color := w.useColor(out)
	if p, ok := out.(*printable.Writer); ok && color {
		p.AllowColors()
	}
	return &textPrinter{color: color}
}

// printStacks walks a target and writes its stacks, each as soon as it is walked,
// and says whether every one is whole.
func printStacks(out io.Writer, s *source, symbols *symbol.Symbolizer, flags *walkFlags) (whole bool, err error) {
	threads, err := s.threads(flags)
	if err != nil {
		return false, err
	}
	walkers := newWalkers(s, symbols, flags, len(threads))
	if threads, err = s.settle(walkers, threads, flags); err != nil {
		return false, err
	}
	doc := &document{Arch: s.Arch().Name, Threads: make([]thread, len(threads))}
	s.about(doc)
	for i, th := range threads {
		doc.Threads[i] = thread{TID: th.ID(), Name: th.Name(), Frames: []frm{}}
		if s.mark != nil {
			s.mark(th, &doc.Threads[i])
		}
	}
	around := flags.printer(out)
	around.heading(doc)
	if err := around.sheet().write(out); err != nil {
		return false, err
	}

	var workers []func(int) printer
	used := make(chan printer, (1+ahead)*len(walkers)) // room for all of them
	turns := newTurns()
	for _, w := range walkers {
		workers = append(workers, func(i int) (p printer) {
			select {
			case p = <-used:
			default:
				p = flags.printer(out)
				p.sheet().buf = make([]byte, 0, pageSize)
			}
			p.sheet().out, p.sheet().turn = nil, func() io.Writer {
				if turns.wait(i) {
					return out
				}
				return io.Discard
			}
			if len(walkers) == 1 {
				p.sheet().out = out // nobody has to wait for anybody
			}
			p.thread(doc, i)
			level := 0
			th := w.thread(threads[i], func(f *frame.Frame) int {
				sheet := p.sheet()
				sheet.makeRoom()
				before := len(sheet.buf)
				level += p.frame(w, level, f)
				return len(sheet.buf) - before
			})
			p.end(&th)
			if s.letGo != nil {
				s.letGo(threads[i])
			}
			p.sheet().whole = th.whole
			return p
		})
	}
	whole = true
	written := 0
	err = inOrder(len(threads), workers, func(p printer) error {
		whole = whole && p.sheet().whole
		err := p.sheet().write(out)
		if written++; err != nil {
			written = len(threads) + 1
		}
		turns.next(written)
		select {
		case used <- p:
		default:
		}
		return err
	})
	if err == nil {
		around.ending()
		err = around.sheet().write(out)
	}
	return whole, err
}

// page is what a stack is written on.
type page struct {
	out   io.Writer        // where it goes; nil where it must be kept until it is its turn
	turn  func() io.Writer // waits for the turn
	err   error            // of out
	full  [][]byte         // what comes before buf
	buf   []byte
	whole bool // the stack is
}

func (p *page) sheet() *page { return p }

// pageSize is how much lies together; to let a buffer grow with a deep stack
// would copy it again and again.
const pageSize = 16 << 10

// maxPages is how many buffers of one stack are kept until it is its turn.
const maxPages = 32

// makeRoom begins another buffer where this one is nearly full.
func (p *page) makeRoom() {
	switch {
	case len(p.buf) <= pageSize-pageSize/8:
	case p.out != nil:
		p.err = p.write(p.out)
	case len(p.full) == maxPages:
		p.out = p.turn()
		p.err = p.write(p.out)
	default:
		p.full = append(p.full, p.buf)
		p.buf = make([]byte, 0, pageSize)
	}
}

// write writes what there is, and empties the page.
func (p *page) write(out io.Writer) error {
	for _, text := range append(p.full, p.buf) {
		if p.err == nil && len(text) > 0 {
			_, p.err = out.Write(text)
		}
	}
	p.full, p.buf = nil, p.buf[:0]
	return p.err
}

// Write implements [io.Writer].
func (p *page) Write(b []byte) (int, error) {
	p.buf = append(p.buf, b...)
	return len(b), nil
}

func (p *page) byte(b byte) { p.buf = append(p.buf, b) }

// text writes what may be the target's, fit to be shown.
func (p *page) text(s string) { p.buf = printable.Append(p.buf, s) }

// own writes what has nothing of the target's in it, or what is fit to be shown already.
func (p *page) own(s string) { p.buf = append(p.buf, s...) }

func (p *page) number(n uint64) { p.buf = strconv.AppendUint(p.buf, n, 10) }

// hex writes a number of that many digits at least: "0x001f".
func (p *page) hex(v uint64, digits int) {
	const all = "0123456789abcdef"
	p.text("0x")
	for digits < 16 && v>>(4*digits) != 0 {
		digits++
	}
	for digits--; digits >= 0; digits-- {
		p.byte(all[v>>(4*digits)&15])
	}
}
