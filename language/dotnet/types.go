package dotnet

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/target"
)

// Names of types that are known here, of the library that has .NET's own types.
const (
	taskType     = "System.Threading.Tasks.Task"
	boxType      = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1.AsyncStateMachineBox`1"
	pooledType   = "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder`1.StateMachineBox`1"
	listType     = "System.Collections.Generic.List`1"
	delegateType = "System.Delegate"
	wrapperType  = "System.Runtime.CompilerServices.AsyncMethodBuilderCore.ContinuationWrapper"
	stringType   = "System.String"
	mostDerived  = 64 // types, each derived from the next one
	mostShapes   = 1 << 18
)

// shape is what a type's objects have.
type shape struct {
	coreclr.Type
	table  uint64
	name   string // with its namespace
	own    bool   // .NET's own library has it
	parent *shape // nil for none
	fields map[string]uint32
	read   bool // fields are
	task   bool // it is a Task
	box    bool // of an async method: its state is kept in the heap
	pooled bool // of these, one that may be used again, and is no Task
}

// shapes are the types of a process, by the addresses of their records. They are of one look at it.
type shapes struct {
	r       *runtime
	mem     target.Memory
	at      map[uint64]*shape
	library uint64 // the record of .NET's own library
	names   map[typeKey]string
}

// typeKey tells a type but for its arguments.
type typeKey struct {
	module uint64
	row    uint32
}

// shapes returns the types of a process, none of which is known yet.
func (x *runtime) shapes(mem target.Memory) *shapes {
	return &shapes{r: x, mem: mem, at: map[uint64]*shape{}, names: map[typeKey]string{}}
}

// of returns what a type's objects have; nil if there is no type at the address.
func (s *shapes) of(table uint64) *shape { return s.upTo(table, mostDerived) }

func (s *shapes) upTo(table uint64, left int) *shape {
	x, known := s.at[table]
	if known {
		return x
	}
	if left == 0 || len(s.at) == mostShapes {
		return nil
	}
	if t, ok := s.r.vm.Type(s.mem, table); ok {
		x = &shape{Type: t, table: table}
		if t.Parent != 0 {
			x.parent = s.upTo(t.Parent, left-1)
		} else if s.library == 0 {
			s.library = t.Module // of System.Object
		}
		s.name(x)
	}
	s.at[table] = x
	return x
}

// name finds out what a type is.
func (s *shapes) name(x *shape) {
	key := typeKey{x.Module, x.Row}
	name, known := s.names[key]
	if !known {
		if a := s.r.assembly(s.mem, x.Module); a.names != nil {
			name = a.names.Type(x.Row)
		}
		s.names[key] = name
	}
	x.name, x.own = name, x.Module == s.library
	if x.Component != 0 && name != stringType { // an array has the row of its elements' type
		x.name, x.own = "", false
	}
	if p := x.parent; p != nil {
		x.task, x.box, x.pooled = p.task, p.box, p.pooled
	}
	if x.own {
		x.task = x.task || name == taskType
		x.pooled = x.pooled || name == pooledType
		x.box = x.box || name == boxType || x.pooled
	}
}

// field returns where an object has a field, from its beginning on; ok is false if it has none of
// that name.
func (s *shapes) field(x *shape, name string) (offset uint64, ok bool) {
	for ; x != nil; x = x.parent {
		if at, ok := s.fieldsOf(x)[name]; ok {
			return wordSize + uint64(at), true
		}
	}
	return 0, false
}

// wordSize is how large a pointer is, bytes. An object begins with one.
const wordSize = 8

// fieldsOf returns where values of a type have the fields that the type itself has.
func (s *shapes) fieldsOf(x *shape) map[string]uint32 {
	if !x.read {
		x.read, x.fields = true, map[string]uint32{}
		if a := s.r.assembly(s.mem, x.Module); a.names != nil {
			for _, f := range s.r.vm.Fields(s.mem, &x.Type) {
				x.fields[a.names.FieldName(f.Row)] = f.Offset
			}
		}
	}
	return x.fields
}

// called returns how an object of a type is written; "" if the type's name is not known.
func (x *shape) called() string {
	if x.name == "" {
		return ""
	}
	return "<" + x.name + ">"
}

var order = binary.LittleEndian

func (s *shapes) word(at uint64) uint64 {
	var b [wordSize]byte
	if n, _ := s.mem.ReadMemory(at, b[:]); n < len(b) {
		return 0
	}
	return order.Uint64(b[:])
}

func (s *shapes) half(at uint64) uint32 {
	var b [4]byte
	if n, _ := s.mem.ReadMemory(at, b[:]); n < len(b) {
		return 0
	}
	return order.Uint32(b[:])
}

// object returns what an object has; nil if there is none at the address.
func (s *shapes) object(at uint64) *shape {
	if at == 0 || at&(wordSize-1) != 0 {
		return nil
	}
	return s.of(s.word(at) &^ (wordSize - 1))
}

// get returns a field of an object that is a pointer; 0 if it has none of that name.
func (s *shapes) get(at uint64, x *shape, name string) uint64 {
	offset, ok := s.field(x, name)
	if !ok {
		return 0
	}
	return s.word(at + offset)
}
