package report

import (
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/lastwords"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// LastWords is what a process, or one of its threads, has said as it died.
type LastWords struct {
	Text string `json:"text"`
	From string `json:"from"`          // where it was found
	TID  int    `json:"tid,omitempty"` // of the thread that is dying, or died; 0 for a goroutine that is parked

	Goroutine uint64 `json:"goroutine,omitempty"` // with --goroutines: its number

	id int // the thread's, or what stands for the goroutine's
}

// wordsFrames is how many physical frames of a thread that is dying are looked at for what it said.
const wordsFrames = 96

// lastWords is what the threads of one walk have said. Several walkers add to it.
type lastWords struct {
	mu   sync.Mutex
	list []LastWords
	told map[int]bool // threads whose words are in the heading
}

// heading finds the last words of a process that has died, before its threads are walked: they
// stand below its heading. Whether a thread of another process is dying is known when it is walked.
func (of *walk) heading(doc *Document) {
	if len(of.walkers) == 0 || of.flags.Sum.Later || doc.Signal == nil && doc.CrashReport == nil {
		return
	}
	w := of.walkers[0]
	source := of.Source
	if g, ok := source.(*goroutineSource); ok {
		source = g.Source
	}
	all, _ := source.Threads()
	for i, th := range append(slices.Clip(of.threads), all...) { // the one that died may not be printed
		var about Thread
		if i < len(of.threads) {
			mark(of.Source, th, &about)
		} else {
			mark(source, th, &about)
		}
		if !about.Died {
			continue
		}
		aborted := doc.Signal != nil && doc.Signal.Name == "SIGABRT" || doc.CrashReport != nil && doc.Crash != nil && doc.Crash.Name() == "SIGABRT"
		doc.LastWords = w.wordsOf(th, aborted)
		if len(doc.LastWords) > 0 {
			w.words.told = map[int]bool{th.ID(): true}
		}
		return
	}
}

// wordsOf returns the last words of a thread; none if it is not dying. aborted says that it has
// died of SIGABRT.
func (w *Walker) wordsOf(th target.Thread, aborted bool) (list []LastWords) {
	if w.start(th) != nil {
		return nil
	}
	of := &lastwords.Thread{Target: w.Target, Memory: target.MemoryOf(w.Target, th)}
	w.stack.Limit = wordsFrames
	for f, err := range w.stack.AllOnce() {
		if err != nil {
			break
		}
		x := lastwords.Frame{PC: f.PC(), Registers: new(arch.Registers)}
		x.CFA, _ = f.CFA()
		f.Registers(x.Registers)
		for _, at := range w.view.Code(f).At {
			aborted = aborted || lastwords.Dying(at.Function)
			x.Functions = append(x.Functions, at.Function)
			x.Lo, x.Hi = at.Start, at.End
		}
		if f.Type() == frame.SigTramp {
			x.Functions = nil
		}
		of.Frames = append(of.Frames, x)
	}
	if !aborted {
		return nil
	}
	for _, x := range lastwords.Of(of) {
		said := LastWords{Text: x.Text, From: x.From, TID: th.ID(), id: th.ID()}
		if g, ok := th.(*goroutines.Thread); ok {
			said.TID, said.Goroutine = g.Goroutine.Thread, g.Goroutine.Number
		}
		list = append(list, said)
	}
	return list
}

// findWords finds the last words of a thread that has been walked, if it is dying and its words are
// not in the heading.
func (w *Walker) findWords(th target.Thread, out *Thread) {
	if w.words.told[out.TID] {
		return
	}
	if out.LastWords = w.wordsOf(th, false); len(out.LastWords) > 0 {
		w.words.mu.Lock()
		w.words.list = append(w.words.list, out.LastWords...)
		w.words.mu.Unlock()
	}
}

// addWords adds the words of all threads to a document, once all are walked.
func (of *walk) addWords(doc *Document) {
	order := map[int]int{}
	for i, th := range of.threads {
		order[th.ID()] = i
	}
	for _, w := range of.walkers[:min(1, len(of.walkers))] {
		slices.SortStableFunc(w.words.list, func(a, b LastWords) int { return order[a.id] - order[b.id] })
		doc.LastWords = append(doc.LastWords, w.words.list...)
	}
}

// dyingIn reports whether a thread with a frame at some code is dying.
func dyingIn(at []symbol.Location) bool {
	return slices.ContainsFunc(at, func(l symbol.Location) bool { return lastwords.Dying(l.Function) })
}
