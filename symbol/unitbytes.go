package symbol

import "sync/atomic"

// unitBytes are the bytes of a unit's entries. They are kept once questions have read as much of
// the unit bit by bit; or at once, where reading a unit again costs much.
type unitBytes struct {
	all  atomic.Pointer[[]byte] // from the unit's first entry on; nil where they are not kept
	read atomic.Int64           // bytes that were read bit by bit
	held *holding
}

// unitPart returns the bytes [lo, hi) of a unit's entries. They must not be changed, and may lie in
// room.
func (d *debugInfo) unitPart(u *unit, lo, hi uint64, room []byte) ([]byte, error) {
	if all := u.data.all.Load(); all != nil {
		u.data.held.touch()
		return (*all)[lo-u.Entry : hi-u.Entry], nil
	}
	return d.info.bytesInto(room, lo, hi)
}

// unitBit is unitPart for a question. The unit is open.
func (d *debugInfo) unitBit(u *unit, lo, hi uint64, room []byte) ([]byte, error) {
	if u.data.all.Load() == nil && u.data.read.Add(int64(hi-lo)) > int64(u.End-u.Entry) {
		u.data.read.Store(0)
		d.keepUnit(u)
	}
	return d.unitPart(u, lo, hi, room)
}

// keepUnit keeps the bytes of a unit, if there is room and nobody else is reading them.
func (d *debugInfo) keepUnit(u *unit) {
	n, held := int64(u.End-u.Entry), u.data.held
	if n > d.room.left.Load()/2 || !held.busy.CompareAndSwap(false, true) {
		return
	}
	defer held.busy.Store(false)
	if u.data.all.Load() != nil || held.take(int(n)) != nil {
		return
	}
	all, err := d.info.bytes(u.Entry, u.End)
	if err != nil {
		held.give(int(n))
		return
	}
	u.data.all.Store(&all)
	held.touch()
}
