package java

import (
	"fmt"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// safepoints say what a virtual machine does while no thread runs Java, or while it waits for that.
// The machine's tables have nothing of it. The file's symbols have, if they have not been stripped:
// they are looked through if a thread may have to do with a safepoint.
type safepoints struct {
	module *target.Module

	once                sync.Once
	image               *elf.Image // nil if there is none
	bias                uint64
	state               func() uint64 // the address of SafepointSynchronize::_state; 0 if that is not known
	operation, operator func() uint64 // of VMThread::_cur_vm_operation, and of VMThread::_vm_thread

	mu        sync.Mutex
	functions map[uint64]string // the beginnings of the names of functions, by an address in their code
}

// known reports whether there are symbols.
func (x *safepoints) known() bool {
	x.once.Do(func() {
		if x.module == nil {
			return
		}
		im, bias, err := x.module.PeekImage()
		if err != nil || im == nil {
			return
		}
		x.image, x.bias = im, bias
		address := func(name string) func() uint64 {
			return sync.OnceValue(func() uint64 {
				if list := im.Lookup(name, 1); len(list) > 0 {
					return list[0].Addr + bias
				}
				return 0
			})
		}
		x.state = address("_ZN20SafepointSynchronize6_stateE")
		x.operation = address("_ZN8VMThread17_cur_vm_operationE")
		x.operator = address("_ZN8VMThread10_vm_threadE")
	})
	return x.image != nil
}

// mostMangled bounds the part of a mangled name that is looked at, in bytes.
const mostMangled = 64

// runs reports whether a function of the virtual machine whose mangled name begins in one of these
// ways is on a stack, and returns the first such beginning.
func (x *safepoints) runs(s *language.Stack, names ...string) (name string, ok bool) {
	if !x.known() {
		return "", false
	}
	for _, f := range s.Frames {
		if f.Module() != x.module {
			continue
		}
		function := x.function(f.AddressInBlock())
		for _, name := range names {
			if strings.HasPrefix(function, name) {
				return name, true
			}
		}
	}
	return "", false
}

// mostFunctions bounds the addresses whose functions are kept: most threads are at the same ones.
const mostFunctions = 1 << 12

// function returns the beginning of the mangled name of the machine's function at an address; ""
// if it has none.
func (x *safepoints) function(addr uint64) (name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	name, known := x.functions[addr]
	if known {
		return name
	}
	symbols := x.image.Symbols()
	if symbol, ok := symbols.Find(addr - x.bias); ok {
		name, _ = symbols.Begin(symbol, mostMangled)
	}
	if x.functions == nil || len(x.functions) == mostFunctions {
		x.functions = map[uint64]string{}
	}
	x.functions[addr] = name
	return name
}

// Values of SafepointSynchronize::_state.
const (
	synchronizing = 1 // threads are still to come to the safepoint
	synchronized  = 2
)

// safepoint says whether there is a safepoint, or the virtual machine waits for one.
func (x *threads) safepoint(r *reading) uint64 {
	v, _ := r.small(x.safepoints.state())
	return v
}

// What threads wait for.
const (
	safepointKind = "safepoint"
	operationKind = "VM operation"
)

// operatorName is what the virtual machine calls the thread that runs its operations.
const operatorName = "VM Thread"

// operator says what the thread of the machine's operations does. All threads that run Java, or the
// machine's own code for it, hold up a safepoint.
func (x *threads) operator(r *reading, s *language.Stack, about *language.Thread) {
	if about == nil || about.Name != operatorName {
		return
	}
	if _, ok := x.safepoints.runs(s, "_ZN20SafepointSynchronize", "_ZN12VM_Operation8evaluate", "_ZN8VMThread18evaluate_operation"); !ok {
		return
	}
	operation, _ := r.Word(x.safepoints.operation())
	if operation != 0 {
		about.State = "runs the VM operation"
		if name := x.operationName(r, operation); name != "" {
			about.State += " " + name
		}
		if by, ok := r.Word(operation + 8); ok && x.isThread(r, by) {
			about.State += fmt.Sprintf(", requested by thread %d", r.native(by))
		}
	}
	if x.safepoint(r) != synchronizing {
		return
	}
	for _, at := range r.records(nil) {
		if r.holdsUp(at) {
			about.Waits = append(about.Waits, language.Lock{Kind: safepointKind, Owner: r.native(at)})
		}
	}
}

// operationName returns the name of an operation, by its class: "G1CollectFull". "" is for one that
// is not known.
func (x *threads) operationName(r *reading, operation uint64) string {
	table, ok := r.Word(operation)
	if !ok || x.safepoints.image == nil {
		return ""
	}
	objects := x.safepoints.image.Objects()
	symbol, ok := objects.Find(table - x.safepoints.bias)
	if !ok {
		return ""
	}
	mangled, _ := objects.Begin(symbol, mostMangled)
	name, ok := strings.CutPrefix(mangled, "_ZTV")
	_, name, is := strings.Cut(strings.TrimLeft(name, "0123456789"), "VM_")
	if !ok || !is {
		return ""
	}
	return name
}

// isThread reports whether a record is of a thread that runs Java.
func (x *threads) isThread(r *reading, record uint64) bool {
	for _, at := range r.records(nil) {
		if at == record {
			return true
		}
	}
	return false
}

// holdsUp reports whether a safepoint cannot begin before the thread does something else: it runs
// Java, or the machine's code.
func (r *reading) holdsUp(at uint64) bool {
	f, ok := r.tables.Fields["JavaThread::_thread_state"]
	v, is := r.small(at + f.Offset)
	if !ok || !is {
		return false
	}
	for _, name := range [...]string{"in_Java", "in_Java_trans", "in_vm", "in_vm_trans", "in_native_trans", "new_trans"} {
		if n, ok := r.tables.Constants["_thread_"+name]; ok && uint64(n) == v {
			return true
		}
	}
	return false
}

// atSafepoint adds what a thread that runs Java has to do with a safepoint.
func (x *threads) atSafepoint(r *reading, s *language.Stack, at uint64, about *language.Thread) {
	if r.holdsUp(at) {
		if x.safepoints.known() && x.safepoint(r) == synchronizing {
			about.State = strings.TrimPrefix(about.State+", holds up the safepoint", ", ")
		}
		return
	}
	const blocks, waits = "_ZN20SafepointSynchronize5block", "_ZN8VMThread19wait_until_executed"
	function, ok := x.safepoints.runs(s, blocks, waits)
	if !ok {
		return
	}
	kind := safepointKind
	if function == waits {
		kind = operationKind
	}
	operator, _ := r.Word(x.safepoints.operator())
	about.Waits = append(about.Waits, language.Lock{Kind: kind, Owner: r.native(operator)})
}
