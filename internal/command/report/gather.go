package report

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/command/inturn"
	"github.com/sfwalk/sfwalk/symbol"
)

// gatheredFrames bounds the frames of all threads together where stacks are kept until all are
// walked, and gatheredText the bytes of their text: each takes memory here.
const (
	gatheredFrames = 1 << 18
	gatheredText   = 32 << 20
)

// Walked is a thread with its frames.
type Walked struct {
	Thread Thread
	Frames []Frame
}

// Single reports whether the frames are so many that no other stack takes their place: they may be
// kept.
func (x *Walked) Single() bool { return cap(x.Frames) > mostRoom }

// Gather walks the threads of s and calls use with each, in their order. The document has them if
// it is printed as JSON, without their frames. use keeps no frames, or not for long: another stack
// takes their place.
func Gather(s Source, symbols *symbol.Symbolizer, flags *Flags, use func(*Walked)) (doc *Document, err error) {
	walk, err := newWalk(s, symbols, flags)
	if err != nil {
		return nil, err
	}
	defer walk.jit.close()
	if err := walk.settle(); err != nil {
		return nil, err
	}
	found := walk.waits()
	doc = &Document{Arch: s.Arch().Name, Digits: 2 * s.Arch().PtrSize, Threads: []Thread{}}
	aboutSource(s, flags, doc)
	walk.heading(doc)
	used := make(chan *Walked, (1+inturn.Ahead)*len(walk.walkers))
	stacks := flags.JSON && !flags.Sum.Tree // which have hidden frames, too
	var workers []func(int) *Walked
	for _, w := range walk.walkers {
		defer w.Table.Release()
		workers = append(workers, func(i int) *Walked {
			var x *Walked
			select {
			case x = <-used:
			default:
				x = &Walked{}
			}
			frames, level := x.Frames[:0], 0
			kept := outermost{flags: flags}
			w.threadIn(&x.Thread, walk.threads[i], func(f *frame.Frame) int {
				before := len(frames)
				frames = w.AppendFrame(frames, level, f)
				level += Levels(frames[before:])
				selected := frames[:before]
				for i := before; i < len(frames); i++ {
					if f := &frames[i]; (stacks || flags.Shows(f)) && flags.Values.Selects(f.Level, f.Function) {
						selected = append(selected, *f)
					}
				}
				frames = selected
				if flags.View.outer > 0 {
					kept.set(frames)
					frames = kept.list
					return 0
				}
				return textOf(frames[before:])
			})
			if flags.View.outer > 0 {
				frames = append(frames[:0], w.fitting(&x.Thread, kept.frames())...)
			}
			x.Frames = frames
			if flags.Sum.Merge || flags.Sum.Goroutines || flags.JSON {
				x.Thread.WaitsFor = waitOf(s, found, walk.threads[i])
			}
			letGo(s, walk.threads[i])
			return x
		})
	}
	made := map[[2]uint64]*goroutines.Creation{}
	err = inturn.InOrder(len(walk.threads), workers, func(x *Walked) error {
		if g := x.Thread.Goroutine; g != nil {
			key := [2]uint64{x.Thread.created, x.Thread.creator}
			if _, ok := made[key]; !ok {
				made[key] = goroutines.CreatedBy(s, symbols, x.Thread.created, x.Thread.creator)
			}
			g.Created = made[key]
			for _, o := range g.WaitsFor {
				o.Find(s, symbols)
			}
		}
		doc.addCrashed(&x.Thread)
		use(x)
		flags.log.flush()
		if flags.JSON {
			doc.add(&x.Thread)
		}
		if x.Single() {
			x.Frames = nil
		}
		select {
		case used <- x:
		default:
		}
		return nil
	})
	aboutSource(s, flags, doc)
	walk.addWords(doc)
	walk.inHandlers(doc)
	doc.Waits, doc.Asleep = found, asleepIn(s).Judge(s, symbols)
	finish(s, doc)
	if err == nil {
		doc.Warnings, doc.Hints = walk.warned(), walk.hints()
	}
	return doc, err
}
