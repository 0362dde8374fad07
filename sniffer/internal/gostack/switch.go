package gostack

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/trad"
)

// Switch is the sniffer of one function of the runtime that changes stacks.
type Switch struct {
	name, function string
}

// The functions that change stacks.
var (
	// Systemstack runs a function of Go on the thread's own stack.
	Systemstack = Switch{"go-systemstack", goruntime.Systemstack}
	// Asmcgocall runs a function of C on the thread's own stack.
	Asmcgocall = Switch{"go-asmcgocall", goruntime.Asmcgocall}
	// Cgocallback is called by C on the thread's stack, and runs Go on a goroutine's.
	Cgocallback = Switch{"go-cgocallback", goruntime.Cgocallback}
	// Morestack makes a goroutine's stack larger, from the thread's own.
	Morestack = Switch{"go-morestack", goruntime.Morestack}
	// Mcall leaves a goroutine for the thread's own stack, to run another.
	Mcall = Switch{"go-mcall", goruntime.Mcall}
)

var allSwitches = []Switch{Systemstack, Asmcgocall, Cgocallback, Morestack, Mcall}

// Sniffers returns the sniffers of Go's stacks, in the order in which they are asked.
func Sniffers() []frame.Sniffer {
	list := []frame.Sniffer{&Sniffer{}}
	for i := range allSwitches {
		list = append(list, &allSwitches[i])
	}
	return list
}

func isSwitch(function string) bool {
	return slices.ContainsFunc(allSwitches, func(s Switch) bool { return s.function == function })
}

func (s *Switch) Name() string { return s.name }

func (s *Switch) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	p, why := programOf(q)
	if why != frame.Claimed {
		return trad.Row{}, why
	}
	f, ok := p.function(q)
	if !ok || goruntime.Base(f.Name()) != s.function {
		return trad.Row{}, notSwitch
	}
	a, ok := p.previous(f, q)
	switch {
	case !ok, a.Saved == nil && a.Row.CFA.Kind == trad.NotTracked && *s != Cgocallback:
		return p.lost(q), frame.Claimed
	case *s == Systemstack && a.Left != 0:
		// The frame pointer leads to the goroutine's stack, too, but to the old one if the
		// garbage collector has moved the stack meanwhile.
		if row, ok := p.fromSystemstack(q, a); ok {
			return row, frame.Claimed
		}
		a.Row.Flags |= trad.Once
		return a.Row, frame.Claimed
	case a.Saved == nil:
		if *s == Cgocallback && p.m.Pushed == 0 {
			// cgocallback saves the frame pointer below SP. Other functions use that part of the
			// thread's own stack meanwhile, and cgocallback loads what they have left there.
			a.Row.FP = trad.Rule{Kind: trad.Undefined}
		}
		if *s == Cgocallback && a.Callback != nil {
			return p.fromCallback(f, q, a), frame.Claimed
		}
		return a.Row, frame.Claimed
	}
	return p.fromGoroutine(q, f, a), frame.Claimed
}

// FunctionStart returns where the function that q.AddressInBlock is in begins.
func (*Switch) FunctionStart(q *frame.Query) (uint64, bool) { return (&Sniffer{}).FunctionStart(q) }
