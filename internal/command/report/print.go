package report

import (
	"io"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/inturn"
	"github.com/sfwalk/sfwalk/symbol"
)

// Printer turns stacks into text or JSON, which it adds to its output.
type Printer interface {
	// Heading adds the text before all threads, whose frames are not known yet. Ending adds the
	// text after them.
	Heading(d *Document)
	Ending(d *Document)
	// Thread adds the text before the frames of the i-th thread, End the text after them.
	Thread(d *Document, i int)
	End(t *Thread)
	// Frame adds a physical frame, the calls inlined in it, and what has left by a tail call after
	// it had called that. The innermost has the level given. It returns how many levels these take.
	Frame(w *Walker, level int, f *frame.Frame) int
	// Frames adds frames of any kind.
	Frames(w *Walker, list []Frame)
	// Buffer returns what the text is added to.
	Buffer() *inturn.Output
}

// Print walks the threads of s and writes each stack as soon as it is walked, by printers that
// printer makes, one for each stack at a time. whole reports whether every stack ends at its
// outermost frame, or where --max-frames has it end. warnings are of all that was read.
func Print(out io.Writer, s Source, symbols *symbol.Symbolizer, flags *Flags, printer func() Printer) (whole bool, warnings []string, err error) {
	walk, err := newWalk(s, symbols, flags)
	if err != nil {
		return false, nil, err
	}
	defer walk.jit.close()
	if err := walk.settle(); err != nil {
		return false, nil, err
	}
	threads, walkers := walk.threads, walk.walkers
	doc := &Document{Arch: s.Arch().Name, Digits: 2 * s.Arch().PtrSize, Threads: make([]Thread, len(threads))}
	aboutSource(s, flags, doc)
	doc.Waits = walk.waits()
	walk.heading(doc)
	for i, th := range threads {
		doc.Threads[i] = Thread{TID: th.ID(), Name: th.Name(), Frames: []Frame{}}
		mark(s, th, &doc.Threads[i])
	}
	walk.inHandlers(doc)
	around := printer()
	var held *heldBack
	if flags.Values.ByFrame() {
		held = &heldBack{out: out, selected: flags.Values.Selected, before: flags.Values.Selected()}
		out = held
	}
	around.Buffer().Out = out
	around.Heading(doc)
	if err := around.Buffer().FlushTo(out); err != nil {
		return false, nil, err
	}
	if held != nil {
		held.headed = true
	}

	var workers []func(int) Printer
	used := make(chan Printer, (1+inturn.Ahead)*len(walkers)) // room for all printers
	turns := inturn.NewTurns()
	for _, w := range walkers {
		workers = append(workers, func(i int) (p Printer) {
			select {
			case p = <-used:
			default:
				p = printer()
			}
			p.Buffer().Begin(func() io.Writer {
				if turns.Wait(i) {
					return out
				}
				return io.Discard
			})
			if len(walkers) == 1 {
				p.Buffer().Out = out // one walker: no stack waits for another
			}
			doc.Threads[i].Kernel = kernelThread(s.Arch(), threads[i])
			doc.Threads[i].WaitsFor = waitOf(s, doc.Waits, threads[i])
			p.Thread(doc, i)
			level := 0
			kept := outermost{flags: flags}
			th := w.Thread(threads[i], func(f *frame.Frame) int {
				if flags.View.outer > 0 {
					before := len(kept.list)
					list := w.AppendFrame(kept.list, level, f)
					level += Levels(list[before:])
					kept.set(list)
					return 0
				}
				o := p.Buffer()
				o.MakeRoom()
				before := o.Size()
				level += p.Frame(w, level, f)
				return o.Size() - before
			})
			if flags.View.outer > 0 {
				p.Frames(w, w.fitting(&th, kept.frames()))
			}
			p.End(&th)
			doc.Threads[i].Crashed = th.Crashed
			letGo(s, threads[i])
			p.Buffer().Whole = th.Whole
			return p
		})
	}
	whole = true
	written := 0
	err = inturn.InOrder(len(threads), workers, func(p Printer) error {
		whole = whole && p.Buffer().Whole
		flags.log.flush()
		err := p.Buffer().FlushTo(out)
		if written++; err != nil {
			written = len(threads) + 1
		}
		if written == len(walkers) {
			flags.Values.Trim() // files have been opened, tables and types read
		}
		turns.Next(written)
		select {
		case used <- p:
		default:
		}
		return err
	})
	flags.Values.Trim() // all stacks have been printed
	if err == nil {
		finish(s, doc)
		walk.addWords(doc)
		for i := range doc.Threads {
			doc.addCrashed(&doc.Threads[i])
		}
		doc.Warnings, doc.Hints, doc.Asleep = walk.warned(), walk.hints(), asleepIn(s).Judge(s, symbols)
		around.Ending(doc)
		err = around.Buffer().FlushTo(out)
	}
	return whole, doc.Warnings, err
}
