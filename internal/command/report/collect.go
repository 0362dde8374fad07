package report

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/inturn"
	"github.com/sfwalk/sfwalk/symbol"
)

// mostRoom bounds the frames for which there is room before a thread's stack is walked: threads of
// one process have stacks of like depth.
const mostRoom = 128

// Collect returns the whole document of a target.
func Collect(s Source, flags *Flags) (doc *Document, warnings []string, err error) {
	symbols := SymbolizerOf(s, flags)
	if sharedBy(s) == nil {
		defer symbols.Close()
	}
	walk, err := newWalk(s, symbols, flags)
	if err != nil {
		return nil, nil, err
	}
	defer walk.jit.close()
	if err := walk.settle(); err != nil {
		return nil, nil, err
	}
	doc = &Document{Arch: s.Arch().Name}
	aboutSource(s, flags, doc)
	walk.heading(doc)
	var workers []func(int) Thread
	for _, w := range walk.walkers {
		most := 0
		defer w.Table.Release()
		workers = append(workers, func(i int) Thread {
			frames, level := make([]Frame, 0, most), 0
			th := w.Thread(walk.threads[i], func(f *frame.Frame) int {
				before := len(frames)
				frames = w.AppendFrame(frames, level, f)
				level += Levels(frames[before:])
				if flags.View.outer > 0 {
					return 0
				}
				return textOf(frames[before:])
			})
			most = min(max(most, len(frames)), mostRoom)
			if flags.View.outer > 0 {
				o := outermost{flags: flags, list: frames}
				frames = w.fitting(&th, o.frames())
			}
			th.Frames = frames
			th.WaitsFor = waitOf(s, nil, walk.threads[i])
			return th
		})
	}
	err = inturn.InOrder(len(walk.threads), workers, func(th Thread) error {
		doc.Threads = append(doc.Threads, th)
		return nil
	})
	aboutSource(s, flags, doc)
	walk.addWords(doc)
	walk.inHandlers(doc)
	finish(s, doc)
	doc.Warnings, doc.Hints = walk.warned(), walk.hints()
	return doc, doc.Warnings, err
}

// Walk walks all stacks, so that the target reads all memory that a walk needs.
func Walk(s Source, flags *Flags) error {
	symbols := SymbolizerOf(s, flags)
	defer symbols.Close()
	return walkBy(s, symbols, flags, func(w *Walker, f *frame.Frame) {
		if f.Level < wordsFrames {
			w.CodeInfo(f) // a thread that is dying has its last words in other memory than its stack
		}
	})
}

// walkBy is Walk with a symbolizer that the caller has, and with what is done with each frame.
func walkBy(s Source, symbols *symbol.Symbolizer, flags *Flags, do func(*Walker, *frame.Frame)) error {
	walk, err := newWalk(s, symbols, flags)
	if err != nil {
		return err
	}
	var workers []func(int) struct{}
	for _, w := range walk.walkers {
		workers = append(workers, func(i int) struct{} {
			w.Thread(walk.threads[i], func(f *frame.Frame) int {
				do(w, f)
				if f.Type() == frame.SigTramp {
					f.Signal()
				}
				return 0
			})
			return struct{}{}
		})
	}
	return inturn.InOrder(len(walk.threads), workers, func(struct{}) error { return nil })
}
