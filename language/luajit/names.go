package luajit

import (
	"bytes"
	"strings"

	"github.com/sfwalk/sfwalk/internal/luajit"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// source is where a function of Lua begins.
type source struct {
	file string
	line int
	main bool // it is a file, or another whole chunk
}

// mostBytes bounds the names of files of one stack. The functions of more files have no names.
const mostBytes = 16 << 20

// text returns a string of Lua's, at most most bytes of it.
func (r *reader) text(at, most uint64) string {
	return r.Text(at+luajit.StringText, min(r.Uint(at+luajit.StringSize, 4), most))
}

// sourceOf returns where a function of Lua begins. A chunk that is no file is called as Lua calls
// it, by its first line.
func (r *reader) sourceOf(proto uint64) source {
	in, known := r.sources[proto]
	if known || r.bytes >= mostBytes {
		return in
	}
	text := r.text(r.Pointer(proto+luajit.ProtoChunk), structs.MostText)
	line, lines := r.Int(proto+luajit.ProtoLine, 4), r.Uint(proto+luajit.ProtoLines, 4)
	if r.Err() == nil {
		in = source{chunk(text), int(max(line, 0)), line == 0 && lines > 0}
	}
	r.bytes += len(in.file)
	r.sources[proto] = in
	return in
}

// chunk returns the file of a chunk, or how Lua calls a chunk that is none.
func chunk(text string) string {
	if rest, ok := strings.CutPrefix(text, "@"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(text, "="); ok {
		return rest
	}
	const longest = 40 // about as in Lua's own traces, without what is around it
	first, _, more := strings.Cut(text, "\n")
	if len(first) > longest {
		first, more = first[:longest], true
	}
	if more {
		first += "..."
	}
	return `[string "` + first + `"]`
}

// lineOf returns the line of the instruction behind which pc is; 0 if that is not known.
func (r *reader) lineOf(proto, pc uint64) int {
	size, first, lines := r.Uint(proto+luajit.ProtoSize, 4), r.Int(proto+luajit.ProtoLine, 4), r.Uint(proto+luajit.ProtoLines, 4)
	info := r.Pointer(proto + luajit.ProtoInfo)
	index := (pc-(proto+luajit.Proto))/4 - 1
	if !r.OK() || pc == 0 || info == 0 || index >= size || first < 0 {
		return 0
	}
	line := uint64(0)
	switch {
	case index == 0: // the function's beginning
	case lines < 1<<8:
		line = r.Uint(info+index-1, 1)
	case lines < 1<<16:
		line = r.Uint(info+2*(index-1), 2)
	default:
		line = r.Uint(info+4*(index-1), 4)
	}
	if !r.OK() || line > lines {
		return 0
	}
	return int(first) + int(line)
}

// The instructions by which names are found, from 2021 on. An instruction has its number, A, C and
// B in a byte each; D is C and B.
const (
	opMove   = 18
	opNil    = 44
	opUpGet  = 45
	opGlobal = 54
	opField  = 57
	opIterC  = 69
)

// metamethods are the names of the metamethods that instructions may call, by their numbers; "call"
// is no metamethod.
var metamethods = func() (list [256]string) {
	for _, x := range []struct {
		from, to int
		name     string
	}{
		{0, 1, "lt"}, {2, 3, "le"}, {4, 11, "eq"}, {20, 20, "unm"}, {21, 21, "len"},
		{37, 37, "pow"}, {38, 38, "concat"}, {51, 53, "gc"}, {54, 54, "index"}, {55, 55, "newindex"},
		{56, 59, "index"}, {60, 64, "newindex"}, {65, 70, "call"},
	} {
		for op := x.from; op <= x.to; op++ {
			list[op] = x.name
		}
	}
	for op := 22; op < 37; op++ {
		list[op] = [5]string{"add", "sub", "mul", "div", "mod"}[(op-22)%5]
	}
	return list
}()

// writes says what instructions do with the slot A: 'b' if they write all slots from there on, 'd'
// if they write it.
var writes = func() (list [256]byte) {
	for _, span := range [][2]int{{12, 13}, {18, 43}, {45, 45}, {51, 54}, {56, 59}, {89, 95}} {
		for op := span[0]; op <= span[1]; op++ {
			list[op] = 'd'
		}
	}
	for _, span := range [][2]int{{44, 44}, {63, 63}, {65, 73}, {77, 84}} {
		for op := span[0]; op <= span[1]; op++ {
			list[op] = 'b'
		}
	}
	return list
}()

const (
	mostName  = 200     // bytes
	mostSteps = 1 << 12 // instructions that are looked at for one name
	mostVars  = 1 << 14 // bytes about local variables, and names of upvalues
)

// calledBy returns what the caller calls a function, as debug.traceback writes it; "" if the caller
// does not tell.
func (r *reader) calledBy(c *call) string {
	if c.by == nil || c.by.pc == 0 {
		return ""
	}
	proto, pc := c.by.proto, c.by.pc-4
	in := r.Uint(pc, 4)
	switch name := metamethods[in&0xff]; {
	case name == "":
		return ""
	case name != "call":
		return "__" + name
	}
	slot := in >> 8 & 0xff
	if in&0xff == opIterC {
		slot -= 3
	}
	return r.slotName(proto, pc, slot)
}

// slotName returns the name of what an instruction finds in a slot: a local variable, or what was
// loaded into the slot last.
func (r *reader) slotName(proto, pc, slot uint64) string {
	code := proto + luajit.Proto
	variables := r.variables(proto)
	for n := 0; ; {
		if name := localName(variables, (pc-code)/4, slot); name != "" {
			return name
		}
		moved := false
		for pc -= 4; pc > code && r.OK() && !moved; pc -= 4 {
			if n++; n > mostSteps {
				return ""
			}
			in := r.Uint(pc, 4)
			op, a, d := in&0xff, in>>8&0xff, in>>16
			switch {
			case writes[op] == 'b':
				if slot >= a && (op != opNil || slot <= d) {
					return ""
				}
			case writes[op] != 'd' || a != slot:
			case op == opMove:
				slot, moved = d, true
				pc += 4 // the loop takes it back
			case op == opGlobal:
				return r.constant(proto, d)
			case op == opField:
				return r.constant(proto, d&0xff)
			case op == opUpGet:
				return r.upvalue(proto, d)
			default:
				return ""
			}
		}
		if !moved {
			return ""
		}
	}
}

// constant returns a text that a function has.
func (r *reader) constant(proto, index uint64) string {
	if index >= r.Uint(proto+luajit.ProtoGC, 4) {
		return ""
	}
	at := r.Pointer(r.Pointer(proto+luajit.ProtoK) - 8*(index+1))
	if r.Uint(at+luajit.StateType, 1) != luajit.TypeString {
		return ""
	}
	return r.text(at, mostName)
}

// upvalue returns the name of a variable of an outer function.
func (r *reader) upvalue(proto, index uint64) string {
	at := r.Pointer(proto + luajit.ProtoUpInfo)
	if at == 0 || index >= r.Uint(proto+luajit.ProtoUp, 1) {
		return ""
	}
	for ; index > 0; index-- {
		at += uint64(len(r.CString(at))) + 1
	}
	name := r.CString(at)
	return name[:min(len(name), mostName)]
}

// variables returns what a function tells of its local variables.
func (r *reader) variables(proto uint64) []byte {
	at, end := r.Pointer(proto+luajit.ProtoVars), proto+r.Uint(proto+luajit.ProtoBytes, 4)
	if at == 0 || at >= end || end-at > mostVars || !r.OK() {
		return nil
	}
	b := make([]byte, end-at)
	if !r.Bytes(at, b) {
		return nil
	}
	return b
}

// inner are the names of variables that loops have made.
var inner = [...]string{1: "(for index)", "(for limit)", "(for step)", "(for generator)", "(for state)", "(for control)"}

// localName returns the name of the local variable that is in a slot at an instruction; "" if there
// is none. Each variable has its name, or a number below len(inner), then how many instructions
// after the one before it begins, and for how many it lives.
func localName(b []byte, index, slot uint64) string {
	begin := uint64(0)
	for len(b) > 0 && b[0] != 0 {
		name := ""
		if int(b[0]) < len(inner) {
			name, b = inner[b[0]], b[1:]
		} else {
			n := bytes.IndexByte(b, 0)
			if n < 0 {
				return ""
			}
			name, b = string(b[:min(n, mostName)]), b[n+1:]
		}
		var after, lives uint64
		after, b = number(b)
		lives, b = number(b)
		if begin += after; begin > index {
			return ""
		}
		if index < begin+lives {
			if slot == 0 {
				return name
			}
			slot--
		}
	}
	return ""
}

// number reads a number of seven bits a byte.
func number(b []byte) (v uint64, rest []byte) {
	for i, c := range b[:min(len(b), 5)] {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, b[i+1:]
		}
	}
	return 0, nil
}

// names are the names of functions in the tables of loaded modules, by their addresses.
type names map[uint64]string

const (
	mostModules = 1 << 10
	mostNodes   = 1 << 16 // of all tables together
)

// namesOf returns the names of functions in package.loaded, and in the tables there.
func (r *reader) namesOf(global uint64) names {
	if known := r.names[global]; known != nil {
		return known
	}
	g := names{}
	r.names[global] = g
	left, loaded := mostNodes, uint64(0)
	if v := r.Pointer(global + luajit.GlobalRegistry); v>>tagShift == tagTable {
		r.eachNode(v&valueMask, &left, func(key string, v uint64) {
			if key == "_LOADED" && v>>tagShift == tagTable {
				loaded = v & valueMask
			}
		})
	}
	if loaded == 0 {
		r.Err()
		return g
	}
	add := func(name string, v uint64) {
		if fn := v & valueMask; v>>tagShift == tagFunc && (g[fn] == "" || strings.HasPrefix(name, "_G.")) {
			g[fn] = strings.TrimPrefix(name, "_G.")
		}
	}
	modules := mostModules
	r.eachNode(loaded, &left, func(module string, v uint64) {
		add(module, v)
		if modules--; v>>tagShift == tagTable && modules >= 0 {
			r.eachNode(v&valueMask, &left, func(key string, v uint64) { add(module+"."+key, v) })
		}
	})
	return g
}

// eachNode calls do for each node of a table whose key is a text. left says how many nodes may be
// looked at.
func (r *reader) eachNode(table uint64, left *int, do func(key string, v uint64)) {
	mask, nodes := r.Uint(table+luajit.TableMask, 4), r.Pointer(table+luajit.TableNodes)
	for i := uint64(0); i <= mask && r.OK(); i++ {
		if *left--; *left < 0 {
			return
		}
		at := nodes + i*luajit.Node
		v, key := r.Pointer(at), r.Pointer(at+luajit.NodeKey)
		if key>>tagShift == tagString && v>>tagShift < tagMask-2 {
			if name := r.text(key&valueMask, mostName); r.OK() {
				do(name, v)
			}
		}
	}
	r.Err()
}
