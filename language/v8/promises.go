package v8

// Bounds of what one promise leads to.
const (
	mostReactions = 1 << 16
	mostPromises  = 1 << 12 // on the ways from one
	mostRequests  = 1 << 12 // of an async generator
)

// handler is what a function does that a promise calls.
type handler struct {
	waits   uint64 // the async function or generator that it resumes; 0 if it is another one
	promise uint64 // which it may settle; 0 for none
}

// handlerOf looks at a function that a promise calls. V8's own have what they work on in their
// context.
func (h *heap) handlerOf(fn uint64) (x handler) {
	if !h.isFunction(fn) {
		return x
	}
	context := h.field(fn, h.async.functionContext)
	if !isSmall(h.field(h.field(fn, h.functionShared), h.functionData)) && h.sharedName <= 16 {
		return x
	}
	first := h.field(context, contextFirst)
	if isSmall(first) { // Promise.all and others count what they still wait for
		return handler{promise: h.promiseOf(h.field(context, contextSecond))}
	}
	switch t, _ := h.typeOf(first); t {
	case h.async.function, h.async.generator:
		x.waits = first
	case h.async.promise:
		x.promise = first
	}
	return x
}

// promiseOf returns the promise that a value is, or that it has; 0 if there is none.
func (h *heap) promiseOf(v uint64) uint64 {
	switch t, ok := h.typeOf(v); {
	case ok && t == h.async.capability:
		v = h.field(v, capabilityPromise)
		if h.is(v, h.async.promise) {
			return v
		}
	case ok && t == h.async.promise:
		return v
	}
	return 0
}

// handlersOf returns what a reaction does, whether its promise is fulfilled or rejected.
func (h *heap) handlersOf(reaction uint64) [2]handler {
	return [2]handler{h.handlerOf(h.field(reaction, h.async.reactionFulfill)), h.handlerOf(h.field(reaction, h.async.reactionReject))}
}

// reactions hands out the reactions of a promise that is pending, the last one first.
func (h *heap) reactions(promise uint64, do func(reaction uint64)) {
	if h.small(promise, promiseFlags)&promiseStatus != 0 {
		return
	}
	r := h.field(promise, promiseReactions)
	for range mostReactions {
		if !h.is(r, h.async.reaction) || !h.spend(64) {
			return
		}
		do(r)
		r = h.field(r, h.async.reactionNext)
	}
}

// waiting returns the async functions and generators that wait for a promise: direct ones in an
// await of it, others for promises that it leads to.
func (h *heap) waiting(promise uint64) (direct, others []uint64) {
	seen := map[uint64]bool{promise: true}
	list := []uint64{promise}
	add := func(p uint64) {
		if p != 0 && !seen[p] && len(list) < mostPromises {
			seen[p] = true
			list = append(list, p)
		}
	}
	for i := 0; i < len(list); i++ {
		h.reactions(list[i], func(reaction uint64) {
			for _, x := range h.handlersOf(reaction) {
				switch {
				case x.waits == 0:
					add(x.promise)
				case seen[x.waits]:
				case i == 0:
					seen[x.waits] = true
					direct = append(direct, x.waits)
				default:
					seen[x.waits] = true
					others = append(others, x.waits)
				}
			}
			add(h.promiseOf(h.field(reaction, h.async.reactionPromise)))
		})
	}
	return direct, others
}

// results returns the promises that an async function settles, or an async generator: one of each
// value that it was asked for.
func (h *heap) results(generator uint64) (list []uint64) {
	v := h.field(generator, asyncPromise)
	for range mostRequests {
		switch t, ok := h.typeOf(v); {
		case ok && t == h.async.promise:
			return append(list, v)
		case !ok || t != h.async.request || !h.spend(64):
			return list
		}
		if p := h.field(v, requestPromise); h.is(p, h.async.promise) {
			list = append(list, p)
		}
		v = h.field(v, requestNext)
	}
	return list
}
