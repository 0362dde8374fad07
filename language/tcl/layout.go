package tcl

import (
	"embed"
	"fmt"
	"sync"

	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// layout has the offsets of the fields of Tcl's structures, bytes, and constants, of releases.
type layout struct {
	StubsMagic uint64 `table:"stubs.magic"`
	Size       uint64 `table:"size"` // of a number that counts: Tcl_Size, which was int

	InterpStubs       uint64 `table:"interp.stubs"`
	InterpGlobal      uint64 `table:"interp.global"`
	InterpEnvironment uint64 `table:"interp.environment"`
	InterpCommand     uint64 `table:"interp.command"`
	InterpLines       uint64 `table:"interp.lines"`

	EnvironmentInterp    uint64 `table:"environment.interp"`
	EnvironmentCallback  uint64 `table:"environment.callback"`
	EnvironmentCoroutine uint64 `table:"environment.coroutine"`
	EnvironmentStack     uint64 `table:"environment.stack"`
	StackBefore          uint64 `table:"stack.before"`
	StackEnd             uint64 `table:"stack.end"`
	CoroutineCaller      uint64 `table:"coroutine.caller"`
	CoroutineCommand     uint64 `table:"coroutine.command"`

	CallbackData uint64 `table:"callback.data"` // four words
	CallbackNext uint64 `table:"callback.next"`

	CommandType uint64 `table:"command.type"`
	CommandLine uint64 `table:"command.line"`
	CommandCall uint64 `table:"command.call"`
	CommandNext uint64 `table:"command.next"`
	CommandPath uint64 `table:"command.path"`
	CommandCode uint64 `table:"command.code"`
	CommandPC   uint64 `table:"command.pc"`
	CommandText uint64 `table:"command.text"`

	TypeEval        uint64 `table:"type.eval"`
	TypeCode        uint64 `table:"type.code"`
	TypePrecompiled uint64 `table:"type.precompiled"`
	TypeSource      uint64 `table:"type.source"`

	CallProcedure    uint64 `table:"call.procedure"`
	ProcedureCommand uint64 `table:"procedure.command"`
	NameEntry        uint64 `table:"name.entry"`
	NameNamespace    uint64 `table:"name.namespace"`
	NameData         uint64 `table:"name.data"`
	NamespaceName    uint64 `table:"namespace.name"`
	EntryKey         uint64 `table:"entry.key"`
	EntryNext        uint64 `table:"entry.next"`
	EntryValue       uint64 `table:"entry.value"`
	TableBuckets     uint64 `table:"table.buckets"`
	TableCount       uint64 `table:"table.count"`
	TableCountSize   uint64 `table:"table.count.size"`
	TableShift       uint64 `table:"table.shift"`

	ExtraLength     uint64 `table:"extra.length"`
	ExtraLengthSize uint64 `table:"extra.length.size"`
	ExtraFields     uint64 `table:"extra.fields"`
	FieldName       uint64 `table:"field.name"`
	FieldFunction   uint64 `table:"field.function"`
	FieldData       uint64 `table:"field.data"`
	Field           uint64 `table:"field.size"`
	ExtraMethod     uint64 `table:"extra.method"` // these two are not in the first ones of 8.6
	ExtraFlags      uint64 `table:"extra.flags"`
	FlagConstructor uint64 `table:"flag.constructor"`
	FlagDestructor  uint64 `table:"flag.destructor"`
	MethodName      uint64 `table:"method.name"`
	MethodObject    uint64 `table:"method.object"`
	MethodClass     uint64 `table:"method.class"`
	ClassObject     uint64 `table:"class.object"`
	ObjectCommand   uint64 `table:"object.command"`

	CodeSource   uint64 `table:"code.source"`
	CodeCommands uint64 `table:"code.commands"`
	CodeBytes    uint64 `table:"code.bytes"`
	CodeStart    uint64 `table:"code.start"`
	CodeDeltas   uint64 `table:"code.deltas"`
	CodeLengths  uint64 `table:"code.lengths"`
	CodeSources  uint64 `table:"code.sources"`
	CodeEnd      uint64 `table:"code.end"`

	LinesType  uint64 `table:"lines.type"`
	LinesPath  uint64 `table:"lines.path"`
	LinesList  uint64 `table:"lines.list"`
	LinesCount uint64 `table:"lines.count"`
	LineSource uint64 `table:"line.source"`
	LineLine   uint64 `table:"line.line"`
	Line       uint64 `table:"line.size"`

	ValueText   uint64 `table:"value.text"`
	ValueLength uint64 `table:"value.length"`
}

//go:embed layouts/*.txt
var tables embed.FS

// layouts returns the layouts that are known. A layout is of all releases with the same two
// numbers: extensions of Tcl are compiled with these structures, too.
var layouts = sync.OnceValue(func() (list []*layout) {
	files, err := tables.ReadDir("layouts")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		l := &layout{}
		text, err := tables.ReadFile("layouts/" + file.Name())
		if err == nil {
			err = structs.Fill(string(text), l)
		}
		if err != nil {
			panic(fmt.Sprintf("layout %s: %v", file.Name(), err))
		}
		list = append(list, l)
	}
	return list
})
