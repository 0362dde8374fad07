package command

import (
	"io"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/symbol"
)

// printer turns stacks into text or JSON, which it adds to its output.
type printer interface {
	// heading adds the text before all threads, whose frames are not known yet. ending adds
	// the text after them.
	heading(d *document)
	ending(d *document)
	// thread adds the text before the frames of the i-th thread, end the text after them.
	thread(d *document, i int)
	end(t *thread)
	// frame adds a physical frame, the calls inlined in it, and what has left by a tail call after it
	// had called that. The innermost has the level given. It returns how many levels these take.
	frame(w *walker, level int, f *frame.Frame) int

	// frames adds frames of any kind.
	frames(w *walker, list []frameEntry)

	buffer() *output
}

// printer returns a new printer of the format that the flags ask for.
func (w *walkFlags) printer(out io.Writer) printer {
	if w.other != nil {
		return w.other()
	}
	if w.json {
		return newJSONPrinter()
	}
	color := w.useColor(out)
	if p, ok := out.(*printable.Writer); ok && color {
		p.AllowColors()
	}
	return &textPrinter{color: color, withModules: w.view.modules}
}

// printStacks walks the threads of s and writes each stack as soon as it is walked. whole
// reports whether every stack ends at its outermost frame, or where --max-frames has it end. warnings are of all that was read.
func printStacks(out io.Writer, s *source, symbols *symbol.Symbolizer, flags *walkFlags) (whole bool, warnings []string, err error) {
	threads, err := s.threads(flags)
	if err != nil {
		return false, nil, err
	}
	walkers := newWalkers(s, symbols, flags, len(threads))
	if threads, err = s.settle(walkers, threads, flags); err != nil {
		return false, nil, err
	}
	doc := &document{Arch: s.Arch().Name, digits: 2 * s.Arch().PtrSize, Threads: make([]thread, len(threads))}
	s.about(doc)
	doc.waits = s.waits(walkers)
	for i, th := range threads {
		doc.Threads[i] = thread{TID: th.ID(), Name: th.Name(), Frames: []frameEntry{}, WaitsFor: doc.waits.of(th.ID())}
		if s.mark != nil {
			s.mark(th, &doc.Threads[i])
		}
		doc.died = doc.died || doc.Threads[i].Died
	}
	around := flags.printer(out)
	around.buffer().out = out
	around.heading(doc)
	if err := around.buffer().write(out); err != nil {
		return false, nil, err
	}

	var workers []func(int) printer
	used := make(chan printer, (1+ahead)*len(walkers)) // room for all printers
	turns := newTurns()
	for _, w := range walkers {
		workers = append(workers, func(i int) (p printer) {
			select {
			case p = <-used:
			default:
				p = flags.printer(out)
				p.buffer().buf = make([]byte, 0, bufferSize)
			}
			p.buffer().out, p.buffer().turn = nil, func() io.Writer {
				if turns.wait(i) {
					return out
				}
				return io.Discard
			}
			if len(walkers) == 1 {
				p.buffer().out = out // one walker: no stack waits for another
			}
			doc.Threads[i].Kernel = kernelThread(s.Arch(), threads[i])
			p.thread(doc, i)
			level := 0
			kept := outermost{most: flags.view.outer}
			th := w.thread(threads[i], func(f *frame.Frame) int {
				if kept.most > 0 {
					before := len(kept.list)
					list := w.appendFrame(kept.list, level, f)
					level += len(list) - before
					kept.set(list)
					return 0
				}
				o := p.buffer()
				o.makeRoom()
				before := o.size()
				level += p.frame(w, level, f)
				return o.size() - before
			})
			if kept.most > 0 {
				p.frames(w, w.fitting(&th, kept.frames()))
			}
			p.end(&th)
			if s.letGo != nil {
				s.letGo(threads[i])
			}
			p.buffer().whole = th.whole
			return p
		})
	}
	whole = true
	written := 0
	err = inOrder(len(threads), workers, func(p printer) error {
		whole = whole && p.buffer().whole
		flags.log.flush()
		err := p.buffer().write(out)
		if written++; err != nil {
			written = len(threads) + 1
		}
		if written == len(walkers) {
			flags.values.trim() // files have been opened, tables and types read
		}
		turns.next(written)
		select {
		case used <- p:
		default:
		}
		return err
	})
	flags.values.trim() // all stacks have been printed
	if err == nil {
		if s.after != nil {
			s.after(doc)
		}
		doc.Warnings, doc.Asleep = s.warned(symbols, flags), s.asleep.judge(s, symbols)
		around.ending(doc)
		err = around.buffer().write(out)
	}
	return whole, doc.Warnings, err
}
