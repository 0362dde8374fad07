package java

// contents is what is wanted of frames beside their names.
type contents struct {
	*reading
	variables bool
	monitors  entered // nil if they are not wanted
	level     int     // of the next frame, among the frames of Java
}

// entered are the monitors that frames have entered, or are about to enter: by the object, the
// level of the innermost frame that has it, among the frames of Java.
type entered map[uint64]int

func (e entered) add(object uint64, level int) {
	if _, inner := e[object]; !inner && object != 0 && len(e) < mostObjects {
		e[object] = level
	}
}

// level returns the level of the innermost frame that has entered the monitor of an object; -1 if
// none is known to have.
func (e entered) level(object uint64) int {
	if level, ok := e[object]; ok {
		return level
	}
	return -1
}

// mostEntered bounds the monitors that one frame has entered.
const mostEntered = 1 << 8

// interpretedMonitors adds the monitors of the interpreted frame with this frame pointer.
func (vm *machine) interpretedMonitors(of *contents, fp uint64) {
	slot := fp - 8*uint64(-vm.slots.monitors)
	size := vm.tables.Types["BasicObjectLock"].Size
	object, has := vm.tables.Fields["BasicObjectLock::_obj"]
	first, ok := of.Word(slot)
	if distance := int64(first); distance < 0 && distance > -mostDistance {
		first = fp - 8*uint64(-distance)
	}
	if !ok || !has || size == 0 || first > slot || (slot-first)/size > mostEntered {
		return
	}
	for ; first < slot; first += size {
		at, _ := of.Word(first + object.Offset)
		of.monitors.add(at, of.level)
	}
}

// mostMonitorBytes bounds what the compiler has noted of the monitors of one scope.
const mostMonitorBytes = 1 << 10

// monitors adds the monitors of the scope at a level, which are at an offset among the scopes: for
// each one, where its lock is, and where its object is. There are none at 0.
func (p *compiledPlace) monitors(of *contents, from uint64, offset uint32, level int) {
	if offset == 0 {
		return
	}
	var room [mostMonitorBytes]byte
	got, _ := p.r.Memory.ReadMemory(from+uint64(offset), room[:])
	p.bytes, p.short, p.bad = room[:got], false, false
	for n := min(p.next(), mostEntered); n > 0; n-- {
		p.next()
		at := p.value(0)
		if p.short || p.bad || len(p.bytes) == 0 {
			break
		}
		// The byte tells whether the compiler has left the lock out. Nobody holds such a monitor,
		// and nobody asks for its level.
		p.bytes = p.bytes[1:]
		if object := p.content(at, 0); object.reference && object.apart == nil {
			of.monitors.add(object.bits, level)
		}
	}
}
