package java

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

// objectsAt returns objects of which each field is where the field of that name is in places, in
// words.
func objectsAt(mem bytesAt, places map[string]uint64) (*machine, *tasks) {
	tables := &vmstructs.Tables{
		Fields: map[string]vmstructs.Field{
			"Klass::_layout_helper":            {Offset: 0, Size: 4},
			"JavaThread::_anchor":              {Offset: 0},
			"JavaThread::_stack_base":          {Offset: 8},
			"JavaThread::_stack_size":          {Offset: 16},
			"JavaThread::_vthread":             {Offset: 24},
			"JavaThread::_threadObj":           {Offset: 32},
			"ThreadsList::_threads":            {Offset: 8},
			"JavaCallWrapper::_anchor":         {Offset: 0},
			"ThreadsList::_length":             {Offset: 0},
			"Threads::_thread_list":            {Offset: fuzzBase},
			"JavaThread::_next":                {Offset: 40},
			"CodeCache::_heap":                 {Offset: fuzzBase + 8},
			"CodeHeap::_memory":                {Offset: 0},
			"CodeHeap::_segmap":                {Offset: 16},
			"VirtualSpace::_low":               {Offset: 0},
			"VirtualSpace::_high":              {Offset: 8},
			"CodeHeap::_log2_segment_size":     {Offset: 32, Size: 4},
			"HeapBlock::Header::_used":         {Offset: 0, Size: 1},
			"HeapBlock::_header":               {Offset: 0},
			"CodeBlob::_frame_size":            {Offset: 0, Size: 4},
			"CodeBlob::_frame_complete_offset": {Offset: 4, Size: 4},
			"CodeBlob::_code_offset":           {Offset: 8, Size: 4},
			"CodeBlob::_data_offset":           {Offset: 12, Size: 4},
			"JavaFrameAnchor::_last_Java_sp":   {Offset: 0},
			"JavaFrameAnchor::_last_Java_fp":   {Offset: 8},
			"JavaFrameAnchor::_last_Java_pc":   {Offset: 16},
		},
		Types:     map[string]vmstructs.Type{"HeapBlock": {Size: 8}},
		Constants: map[string]int64{"frame::entry_frame_call_wrapper_offset": -6},
	}
	n := vmstructs.Needed{Tables: tables}
	vm := small()
	vm.layout.blobs, vm.layout.code, vm.arch, vm.threads = n.CodeCache(), n.Interpreter(), amd64.Arch, newThreads(tables, nil)
	x := &vm.threads.heap
	x.once.Do(func() { x.known = true })
	x.offsets = map[fieldKey]fieldPlace{}
	r := &reading{Reader: &vmstructs.Reader{Memory: mem, Order: vm.arch.Order}, heap: x}
	t := vm.newTasks(r)
	t.interpreter, t.interpreterBytes = fuzzBase+64, 64
	for name, word := range places {
		x.offsets[fieldKey{fuzzBase, name}] = fieldPlace{8 * word, true}
	}
	for _, class := range []string{stackChunk, continuation, virtualThread, threadClass, hashMap, hashMap + "$Node", hashMap + "$TreeBin", hashMap + "$ForwardingNode", hashMap + "$CollectionView"} {
		t.bases[fieldKey{fuzzBase, class}] = fuzzBase
	}
	return vm, t
}

// FuzzTasks reads virtual threads, their frames and maps from objects that are all of one class,
// which is at fuzzBase. The first bytes say what the class is called and where its fields are.
func FuzzTasks(f *testing.F) {
	names := []string{"size", "sp", "bottom", "argsize", "tail", "parent", "cont", "state", "tid", "carrierThread", "eetop", "map", "table", "nextTable", "first", "key", "next"}
	classes := []string{"[L", hashMap + "$ForwardingNode", hashMap + "$TreeBin", hashMap + "$Node"}
	for _, fill := range []uint64{fuzzBase, fuzzBase + 64, 3, 8} {
		b := make([]byte, 32)
		for i := range b {
			b[i] = byte(i % 8)
		}
		for i := range 512 {
			b = binary.LittleEndian.AppendUint64(b, fill+uint64(i&3*8))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const choice = 32
		if len(data) < choice {
			return
		}
		places := map[string]uint64{}
		for i, name := range names {
			if c := data[i]; c != 0xff {
				places[name] = uint64(c)
			}
		}
		mem := bytesAt(data[choice:])
		bounds.Hold(t, 1<<20+200*len(data), func() {
			vm, x := objectsAt(mem, places)
			x.names[fuzzBase] = classes[int(data[31])%len(classes)]
			object := uint64(fuzzBase + 8*uint64(data[30]))
			x.add(object)
			_, _ = x.onHeap(object, nil)
			spots, _ := x.onStack(object, object)
			x.framesOf(spots)
			x.members(object, func(uint64) {})
			_, _ = vm.Tasks(mem)
			_, _ = vm.behindBarrier(&language.Stack{Arch: amd64.Arch, Memory: mem})
		})
	})
}
