package java

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

// fuzzBase is where the memory of fuzz tests is.
const fuzzBase = 0x10000

// bytesAt is a memory that has data at fuzzBase.
type bytesAt []byte

func (m bytesAt) ReadMemory(addr uint64, p []byte) (int, error) {
	n := 0
	if addr >= fuzzBase && addr-fuzzBase < uint64(len(m)) {
		n = copy(p, m[addr-fuzzBase:])
	}
	if n < len(p) {
		return n, fmt.Errorf("nothing at %#x", addr+uint64(n))
	}
	return n, nil
}

// static are the fields that have addresses of their own.
var static = []string{
	"JVMFlag::flags", "JVMFlag::numFlags", "CompressedOops::_base", "CompressedOops::_shift", "CompressedKlassPointers::_base",
	"CompressedKlassPointers::_shift", "ThreadsSMRSupport::_java_thread_list", "ObjectSynchronizer::_in_use_list", "Universe::_collectedHeap",
	"java_lang_Class::_klass_offset", "Threads::_thread_list", "Abstract_VM_Version::_s_vm_release", "Arguments::_jvm_args_array",
	"Arguments::_num_jvm_args", "Arguments::_java_command",
}

// inObjects are fields of structures.
var inObjects = []string{
	"JVMFlag::_name", "JVMFlag::_addr", "JavaThread::_stack_base", "JavaThread::_stack_size", "JavaThread::_osthread", "JavaThread::_threadObj",
	"JavaThread::_next", "JavaThread::_thread_state", "JavaThread::_vthread", "JavaThread::_current_pending_monitor",
	"JavaThread::_current_waiting_monitor", "JavaThread::_lock_stack", "JavaThread::_monitor_owner_id", "LockStack::_top", "LockStack::_base[0]",
	"ThreadsList::_length", "ThreadsList::_threads", "OSThread::_thread_id", "OSThread::_pthread_id", "ObjectMonitor::_owner", "ObjectMonitor::_object",
	"ObjectMonitor::_next_om", "ObjectMonitor::_stack_locker", "MonitorList::_head", "Symbol::_length", "Symbol::_body", "Klass::_name", "Klass::_super",
	"Klass::_layout_helper", "InstanceKlass::_constants", "InstanceKlass::_fields", "InstanceKlass::_fieldinfo_stream",
	"InstanceKlass::_java_fields_count", "Array<u1>::_data", "Array<u2>::_data", "CompilerThread::_env", "ciEnv::_task", "CompileTask::_method",
	"CompileTask::_comp_level", "Method::_constMethod", "ConstMethod::_constants", "ConstMethod::_name_index", "ConstantPool::_pool_holder",
	"CollectedHeap::_reserved", "MemRegion::_start", "MemRegion::_word_size", "NamedThread::_name",
	"InstanceKlass::_methods", "ConstMethod::_method_idnum", "Array<Method*>::_data", "ThreadShadow::_pending_exception",
}

// FuzzThreads reads what is in memory as a virtual machine with one thread. The first bytes leave
// out fields, and place the others.
func FuzzThreads(f *testing.F) {
	for _, fill := range []uint64{0, fuzzBase, fuzzBase + 512, ^uint64(0)} {
		b := make([]byte, 64)
		for i := range 1024 {
			b = binary.LittleEndian.AppendUint64(b, fill+uint64(i&7*8))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const choice = 64
		if len(data) < choice {
			return
		}
		tables := &vmstructs.Tables{Fields: map[string]vmstructs.Field{}, Types: map[string]vmstructs.Type{}, Constants: map[string]int64{
			"FieldInfo::field_slots": 6, "FieldInfo::name_index_offset": 1, "FieldInfo::low_packed_offset": 4, "FieldInfo::high_packed_offset": 5,
			"FIELDINFO_TAG_SIZE": 2, "JVM_ACC_FIELD_INTERNAL": 0x400, "markWord::klass_shift": 42,
		}}
		place := func(i int, name string, base uint64) {
			if c := data[i]; c != 0xff {
				tables.Fields[name] = vmstructs.Field{Offset: base + uint64(c)*8, Size: 1 << (c & 3), Unsigned: c&4 != 0}
			}
		}
		for i, name := range static {
			place(i, name, fuzzBase)
		}
		for i, name := range inObjects {
			place((i+len(static))%choice, name, 0)
		}
		tables.Types["JVMFlag"], tables.Types["ConstantPool"] = vmstructs.Type{Size: 24}, vmstructs.Type{Size: 72}
		mem := bytesAt(data[choice:])
		a := amd64.Arch
		bounds.Hold(t, 1<<20+100*len(data), func() {
			x := newThreads(tables, nil)
			s := &language.Stack{Arch: a, Memory: mem}
			r := &reading{Reader: vmstructs.NewReader(mem, a.Order), heap: &x.heap}
			if !r.ready() {
				return
			}
			th, ok := x.of(r, fuzzBase+8)
			if !ok {
				th = javaThread{at: fuzzBase, base: fuzzBase + uint64(len(mem)), limit: fuzzBase}
			}
			x.raisedIn = small().raisedIn
			x.about(r, s, th, entered{fuzzBase: 0})
			x.raisedIn(r, fuzzBase)
			r.stackLockedFrom(th.limit, s, th, entered{fuzzBase: 0})
			r.text(fuzzBase)
			r.spoken(fuzzBase)
			if text := r.started(); len(text) > mostStarted+len("...") {
				t.Errorf("%d bytes: %s", len(text), text)
			}
		})
	})
}
