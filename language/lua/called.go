package lua

import "strings"

const (
	mostNameCode  = 1 << 14 // instructions of a function in which names are looked for
	mostSteps     = 1 << 22 // of all functions of a stack
	mostVariables = 1 << 12 // of one function
	deepest       = 16      // registers that a name goes through
)

// calledBy returns what a function's caller calls it, as debug.getinfo has it: a variable, a field,
// a metamethod. "" if the caller does not tell.
func (p *placer) calledBy(m reader, c *call) string {
	by := c.caller
	switch {
	case by == nil || c.tail:
		return ""
	case by.hooked:
		return "hook"
	case by.final:
		return "__gc"
	case by.proto == 0:
		return ""
	}
	key := [2]uint64{by.proto, by.pc}
	name, known := p.called[key]
	if !known {
		name = p.nameAtCall(m, by.proto, by.pc)
		p.called[key] = name
	}
	return name
}

// nameAtCall returns what a function of Lua calls at the instruction before an address.
func (p *placer) nameAtCall(m reader, proto, pc uint64) string {
	f := function{reader: m, steps: &p.steps, proto: proto}
	at := m.Pointer(proto + m.ProtoCode)
	n := (pc - at) / 4
	if !m.OK() || pc <= at || n > mostNameCode || n > m.Uint(proto+m.ProtoSize, 4) {
		return ""
	}
	code := make([]byte, 4*n)
	if !m.Bytes(at, code) {
		return ""
	}
	for i := range n {
		f.code = append(f.code, m.decode(uint64(m.Arch.Order.Uint32(code[4*i:]))))
	}
	name := f.calls(int(n) - 1)
	if m.Err() != nil || name == "?" {
		return ""
	}
	return name
}

// function is a function of Lua in which a name is looked for.
type function struct {
	reader
	proto uint64
	code  []instruction // up to the one that calls
	steps *int
}

// calls returns what the instruction at an index calls.
func (f *function) calls(at int) string {
	switch in := f.code[at]; {
	case in.name == "CALL" || in.name == "TAILCALL" || in.name == "TFORLOOP" && f.Version == 501:
		name, _ := f.register(at, in.a(), 0)
		return name
	case in.name == "TFORCALL":
		return "for iterator"
	case f.Version == 501:
		return ""
	case strings.HasPrefix(in.name, "MMBIN"):
		if i := in.c() - f.CodeEventAdd; i < uint64(len(arithmetic)) {
			return "__" + arithmetic[i]
		}
		return ""
	case in.event != "":
		return "__" + in.event
	}
	return ""
}

// register returns the name of what is in a register at an instruction: a local variable's, or what
// was loaded into it last. constant says that it is a text.
func (f *function) register(at int, reg uint64, depth int) (name string, constant bool) {
	if name := f.variable(at, reg); name != "" || depth == deepest {
		return name, false
	}
	set := f.set(at, reg)
	if set < 0 {
		return "", false
	}
	switch in := f.code[set]; in.name {
	case "MOVE":
		if in.b() < in.a() {
			if f.Version != 501 {
				at = set
			}
			return f.register(at, in.b(), depth+1)
		}
	case "GETGLOBAL":
		return f.constant(in.bx()), false
	case "GETUPVAL":
		return f.upvalue(in.b()), false
	case "LOADK":
		return f.constant(in.bx()), true
	case "LOADKX":
		if set+1 < len(f.code) {
			return f.constant(f.code[set+1].ax()), true
		}
	case "GETTABUP", "GETTABLE", "GETFIELD", "SELF":
		return f.key(set, depth), false
	}
	return "", false
}

// key returns the key with which an instruction looks into a table; "?" if it is no text that is
// known.
func (f *function) key(at int, depth int) string {
	const (
		isConstant = 1 << 8  // of C, up to 5.3
		k          = 1 << 15 // of an instruction, from 5.4 on
	)
	in := f.code[at]
	c, constant := in.c(), false
	switch {
	case f.Version <= 503:
		c, constant = c&^isConstant, c&isConstant != 0
	case in.name == "SELF" && f.Version == 504:
		constant = in.bits&k != 0
	default:
		constant = in.name != "GETTABLE"
	}
	name := ""
	switch {
	case constant:
		name = f.constant(c)
	case f.Version == 501:
	default:
		var is bool
		if name, is = f.register(at, c, depth+1); !is {
			name = ""
		}
	}
	if name == "" {
		return "?"
	}
	return name
}

// set returns the index of the instruction that has set a register last before another one; -1 if
// that depends on what is jumped over, or there is none.
func (f *function) set(before int, reg uint64) int {
	if f.Version >= 504 && strings.HasPrefix(f.code[before].name, "MMBIN") {
		before-- // this one was not executed
	}
	set, target := -1, 0 // code before target may be jumped over
	for i := 0; i < before; i++ {
		if *f.steps++; *f.steps > mostSteps {
			return -1
		}
		in := f.code[i]
		a := in.a()
		changes := in.sets && a == reg
		switch in.name {
		case "LOADNIL":
			last := in.b()
			if f.Version != 501 {
				last += a
			}
			changes = a <= reg && reg <= last
		case "CALL", "TAILCALL":
			changes = reg >= a
		case "TFORCALL":
			changes = reg >= a+2
		case "TFORLOOP":
			changes = changes || f.Version == 501 && reg >= a+2
		case "SELF":
			changes = changes || f.Version == 501 && reg == a+1
		case "TEST":
			changes = f.Version <= 502 && reg == a
		}
		jumps := in.name == "JMP" || f.Version == 501 && (in.name == "FORLOOP" || in.name == "FORPREP")
		if to := i + 1 + in.jump(); jumps && to > i && to <= before {
			target = max(target, to)
			if f.Version == 501 {
				target = 0
				if changes {
					set = i
				}
				i = to - 1
				continue
			}
		}
		if changes {
			if set = i; i < target {
				set = -1
			}
		}
		if f.Version == 501 {
			i += f.skips(in)
		}
	}
	return set
}

// skips returns how many words behind an instruction of 5.1 are none: what a closure takes along,
// or a large number.
func (f *function) skips(in instruction) int {
	switch {
	case in.name == "SETLIST" && in.c() == 0:
		return 1
	case in.name == "CLOSURE" && in.bx() < f.Uint(f.proto+f.ProtoFunctionsSize, 4):
		made := f.Pointer(f.Pointer(f.proto+f.ProtoFunctions) + 8*in.bx())
		return int(f.Uint(made+f.ProtoNups, 1))
	}
	return 0
}

// variable returns the name of the local variable that is in a register at an instruction; "" if
// there is none.
func (f *function) variable(at int, reg uint64) string {
	list, n := f.Pointer(f.proto+f.ProtoVariables), f.Uint(f.proto+f.ProtoVariablesSize, 4)
	for i := range min(n, mostVariables) {
		x := list + i*f.Variable
		*f.steps++
		if begin := f.Uint(x+f.VariableBegin, 4); !f.OK() || begin > uint64(at) || *f.steps > mostSteps {
			break
		}
		if uint64(at) < f.Uint(x+f.VariableEnd, 4) {
			if reg == 0 {
				return f.name(f.Pointer(x + f.VariableName))
			}
			reg--
		}
	}
	return ""
}

// constant returns a text that a function has; "" if there is none at an index.
func (f *function) constant(index uint64) string {
	if index >= f.Uint(f.proto+f.ProtoConstantsSize, 4) {
		return ""
	}
	at := f.Pointer(f.proto+f.ProtoConstants) + index*f.Value
	if f.Uint(at+f.ValueType, 1)&typeMask != f.TypeString {
		return ""
	}
	return f.name(f.Pointer(at))
}

// upvalue returns the name of a variable of an outer function.
func (f *function) upvalue(index uint64) string {
	if index >= f.Uint(f.proto+f.ProtoUpvaluesSize, 4) {
		return ""
	}
	at := f.Pointer(f.proto+f.ProtoUpvalues) + index*f.Upvalue
	return f.name(f.Pointer(at))
}

// name returns a string of Lua's; "" if there is none at an address.
func (f *function) name(at uint64) string {
	if at == 0 {
		return ""
	}
	return f.begin(at, mostName)
}
