package lua

import (
	"embed"
	"fmt"

	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const absent = structs.Absent

// layout has the offsets of the fields of Lua's structures, bytes, and constants, of one release.
type layout struct {
	Version uint64 `table:"version"` // 504 for 5.4

	ObjectNext   uint64 `table:"object.next"`
	ObjectType   uint64 `table:"object.type"`
	ObjectMarked uint64 `table:"object.marked"`
	ObjectThread uint64 `table:"object.thread"`

	Value         uint64 `table:"value"` // its size
	ValueType     uint64 `table:"value.type"`
	ValueTypeSize uint64 `table:"value.type.size"`
	TypeString    uint64 `table:"type.string"`
	TypeTable     uint64 `table:"type.table"`
	TypeFunction  uint64 `table:"type.function"`

	StateStatus  uint64 `table:"state.status"`
	StateYielded uint64 `table:"state.yielded"`
	StateGlobal  uint64 `table:"state.global"`
	StateCall    uint64 `table:"state.call"`
	StateStack   uint64 `table:"state.stack"`
	StateJump    uint64 `table:"state.jump"`
	StateBase    uint64 `table:"state.base"` // of 5.1 a pointer to an array of calls, else the first call itself
	StateTop     uint64 `table:"state.top"`
	StatePC      uint64 `table:"state.savedpc,optional"`
	StateSlots   uint64 `table:"state.slots,optional"` // of 5.1: the innermost function's

	Call           uint64 `table:"call,optional"` // its size, of 5.1
	CallFunc       uint64 `table:"call.func"`
	CallPrevious   uint64 `table:"call.previous,optional"`
	CallPC         uint64 `table:"call.savedpc"`
	CallStatus     uint64 `table:"call.status,optional"`
	CallStatusSize uint64 `table:"call.status.size,optional"`
	CallTail       uint64 `table:"call.tail,optional"`
	CallTails      uint64 `table:"call.tails,optional"`   // of 5.1
	CallFresh      uint64 `table:"call.fresh,optional"`   // from 5.3 on: it began a frame that executes
	CallReentry    uint64 `table:"call.reentry,optional"` // of 5.2: it did not

	CallHooked    uint64 `table:"call.hooked,optional"`
	CallFinalizer uint64 `table:"call.finalizer,optional"` // a finalizer runs, which the call has begun

	OpCall     uint64 `table:"op.call,optional"` // of 5.1
	OpTailCall uint64 `table:"op.tailcall,optional"`

	GlobalMain     uint64 `table:"global.main"`
	GlobalWithin   uint64 `table:"global.main.within,optional"` // of 5.5: GlobalMain is the state itself, and no pointer to it
	GlobalRegistry uint64 `table:"global.registry"`
	GlobalObjects  uint64 `table:"global.objects"`
	GlobalWhite    uint64 `table:"global.white"`
	WhiteBits      uint64 `table:"global.white.bits"`

	ClosureIsC   uint64 `table:"closure.isc,optional"` // of 5.1
	ClosureC     uint64 `table:"closure.c"`
	ClosureProto uint64 `table:"closure.proto"`

	ProtoCode         uint64 `table:"proto.code"`
	ProtoSize         uint64 `table:"proto.size"`
	ProtoLines        uint64 `table:"proto.lines"`
	ProtoLinesSize    uint64 `table:"proto.lines.size"`
	ProtoAbsolute     uint64 `table:"proto.absolute,optional"` // from 5.4 on
	ProtoAbsoluteSize uint64 `table:"proto.absolute.size,optional"`
	ProtoLine         uint64 `table:"proto.line"`
	ProtoSource       uint64 `table:"proto.source"`

	ProtoConstants     uint64 `table:"proto.constants"`
	ProtoConstantsSize uint64 `table:"proto.constants.size"`
	ProtoVariables     uint64 `table:"proto.variables"`
	ProtoVariablesSize uint64 `table:"proto.variables.size"`
	Variable           uint64 `table:"variable"` // its size
	VariableName       uint64 `table:"variable.name"`
	VariableBegin      uint64 `table:"variable.begin"`
	VariableEnd        uint64 `table:"variable.end"`
	ProtoUpvalues      uint64 `table:"proto.upvalues"`
	ProtoUpvaluesSize  uint64 `table:"proto.upvalues.size"`
	Upvalue            uint64 `table:"upvalue"`                  // its size
	ProtoFunctions     uint64 `table:"proto.functions,optional"` // of 5.1
	ProtoFunctionsSize uint64 `table:"proto.functions.size,optional"`
	ProtoNups          uint64 `table:"proto.nups,optional"`

	// Where instructions have their parts, bits.
	CodeOpBits   uint64 `table:"code.op.bits"`
	CodeA        uint64 `table:"code.a"`
	CodeABits    uint64 `table:"code.a.bits"`
	CodeB        uint64 `table:"code.b"`
	CodeBBits    uint64 `table:"code.b.bits"`
	CodeC        uint64 `table:"code.c"`
	CodeCBits    uint64 `table:"code.c.bits"`
	CodeBx       uint64 `table:"code.bx"`
	CodeBxBits   uint64 `table:"code.bx.bits"`
	CodeAx       uint64 `table:"code.ax,optional"`
	CodeAxBits   uint64 `table:"code.ax.bits,optional"`
	CodeJump     uint64 `table:"code.jump"`
	CodeJumpBits uint64 `table:"code.jump.bits"`
	CodeJumpZero uint64 `table:"code.jump.zero"`          // what stands for no jump
	CodeEventAdd uint64 `table:"code.event.add,optional"` // from 5.4 on: the number of the metamethod __add

	ops []operation // by number

	StringShort   uint64 `table:"string.short,optional"` // from 5.3 on: the length of a short one
	StringLength  uint64 `table:"string.length"`
	StringText    uint64 `table:"string.text"`
	StringPointer uint64 `table:"string.pointer,optional"` // of 5.5: where the text of a long one is

	TableLogSize uint64 `table:"table.logsize"`
	TableNodes   uint64 `table:"table.nodes"`
	Node         uint64 `table:"node"` // its size
	NodeValue    uint64 `table:"node.value"`
	NodeKey      uint64 `table:"node.key"`
	NodeKeyType  uint64 `table:"node.key.type"`
}

//go:embed layouts/*.txt
var layouts embed.FS

// layoutOf returns the layout of a release, 5.minor.patch.
func layoutOf(minor, patch int) (*layout, error) {
	name := fmt.Sprintf("5.%d", minor)
	if minor == 4 && patch < 2 {
		name = "5.4.0"
	}
	text, err := layouts.ReadFile("layouts/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("the layout of Lua 5.%d is not known", minor)
	}
	l := &layout{}
	if err := structs.Fill(string(text), l); err != nil {
		return nil, fmt.Errorf("the layout of Lua %s: %w", name, err)
	}
	if l.ops, err = operationsOf(name); err != nil {
		return nil, err
	}
	return l, nil
}
