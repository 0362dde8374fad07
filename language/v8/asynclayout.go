package v8

import (
	"errors"
	"fmt"
)

// asyncLayout says where V8 has its heap, and what waits in it: in bytes from the beginning of an
// object or a structure.
type asyncLayout struct {
	asyncTypes
	functionContext uint64 // of JSFunction
	state           uint64 // of an isolate: what it does

	// Of PromiseReaction.
	reactionNext, reactionReject, reactionFulfill, reactionPromise uint64

	// Of the heap's structures, which are no objects.
	spaceNew, spaceOld                         int    // the numbers of spaces
	spaceList                                  uint64 // of a space: its first and last page
	pageHeap, pageSpace, pageBegin, pageFinish uint64 // of a page's record
}

// What an isolate does.
const (
	stateScript  = 0 // it runs JavaScript
	stateCollect = 1 // it collects garbage
	stateIdle    = 8 // it waits in the loop of events
)

// asyncTypes are numbers of kinds of objects.
type asyncTypes struct {
	promise, reaction, fulfilled, rejected, capability uint16
	function, generator, request                       uint16
}

// Where objects have what, in bytes, in all releases that are known.
const (
	generatorFunction = 24
	generatorThis     = 40
	generatorOffset   = 48 // in the bytecode, from the beginning of the BytecodeArray on
	generatorState    = 64 // from 0 on if it waits
	asyncPromise      = 80 // of an async function; of an async generator, its first request

	promiseReactions = 24
	promiseFlags     = 32
	promiseStatus    = 3 // in the flags; 0 for one that is pending

	requestNext    = 8
	requestPromise = 32

	capabilityPromise = 8

	contextFirst  = 32 // behind the ScopeInfo and the outer context
	contextSecond = 40
)

// layOutAsync returns the layout, nil if a part of it is not known.
func layOutAsync(c *constants, l *layout) (*asyncLayout, error) {
	known := false
	for _, r := range [][2]int{{10, 2}, {11, 3}, {12, 4}, {12, 9}, {13, 0}, {13, 4}, {13, 5}, {13, 6}, {13, 7}, {14, 0}, {14, 2}, {14, 5}, {14, 6}, {14, 7}, {14, 9}, {15, 0}} {
		known = known || l.major == r[0] && l.minor == r[1]
	}
	if l.packed {
		return nil, errors.New("where a V8 with compressed pointers has its heap is not known")
	}
	if !known {
		return nil, fmt.Errorf("where V8 %d.%d has its heap is not known", l.major, l.minor)
	}
	c.lacks = ""
	kind := func(name string) uint16 { return uint16(c.of("type_" + name)) }
	a := &asyncLayout{
		asyncTypes: asyncTypes{
			promise: kind("JSPromise__JS_PROMISE_TYPE"), reaction: kind("PromiseReaction__PROMISE_REACTION_TYPE"),
			fulfilled:  kind("PromiseFulfillReactionJobTask__PROMISE_FULFILL_REACTION_JOB_TASK_TYPE"),
			rejected:   kind("PromiseRejectReactionJobTask__PROMISE_REJECT_REACTION_JOB_TASK_TYPE"),
			capability: kind("PromiseCapability__PROMISE_CAPABILITY_TYPE"), function: kind("JSAsyncFunctionObject__JS_ASYNC_FUNCTION_OBJECT_TYPE"),
			generator: kind("JSAsyncGeneratorObject__JS_ASYNC_GENERATOR_OBJECT_TYPE"), request: kind("AsyncGeneratorRequest__ASYNC_GENERATOR_REQUEST_TYPE"),
		},
		functionContext: uint64(c.of("class_JSFunction__context__Context", "class_JSFunction__context__Tagged_Context_")),
		spaceNew:        1, spaceOld: 2, spaceList: 40,
	}
	if c.lacks != "" {
		return nil, fmt.Errorf("V8 %d.%d does not tell %s", l.major, l.minor, c.lacks)
	}
	first := uint64(8) // of a reaction's fields
	if l.major >= 12 {
		first = 16
	}
	switch {
	case l.major < 11:
		a.state = 17768
	case l.major < 12:
		a.state = 432
	case !l.atLeast(13, 4):
		a.state = 440
	case !l.atLeast(14, 2):
		a.state = 488
	default:
		a.state = 496
	}
	a.reactionNext, a.reactionReject, a.reactionFulfill, a.reactionPromise = first, first+8, first+16, first+24
	switch {
	case l.major < 11:
		a.spaceNew, a.spaceOld, a.spaceList = 7, 1, 168
		fallthrough
	case l.major < 12:
		a.pageHeap, a.pageBegin, a.pageFinish, a.pageSpace = 16, 24, 32, 64
	case !l.atLeast(12, 9):
		a.pageHeap, a.pageBegin, a.pageFinish, a.pageSpace = 24, 32, 40, 72
	default:
		a.pageHeap, a.pageBegin, a.pageFinish, a.pageSpace = 64, 72, 56, 80
	}
	if l.atLeast(14, 9) {
		a.spaceList = 32
	}
	if l.atLeast(15, 0) {
		a.state = 504
	}
	return a, nil
}
