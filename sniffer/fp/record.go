package fp

import "github.com/sfwalk/sfwalk/frame"

// maxRecords bounds the frame records that are followed until one is certain.
const maxRecords = 32

// Records reports whether the frame record at fp leads on: it lies outward of sp on the
// stack, and its return address follows a call, or is 0 at the end of the chain. A return
// address in code that belongs to no file need not follow a call if the next record is good in
// turn: interpreters jump to their functions (HotSpot's return entries).
func Records(q *frame.Query, fp, sp uint64) bool {
	a := q.Arch
	size := a.PtrSize
	if a.FrameRecord == 0 {
		return false
	}
	for range maxRecords {
		if fp == 0 || fp%uint64(size) != 0 || a.InnerThan(fp, sp) || fp-sp > maxFrameSize {
			return false
		}
		p := q.Read(fp, 2*size)
		if len(p) < 2*size {
			return false
		}
		saved, ra := a.Word(p), a.CodeAddress(a.Word(p[size:]))
		switch {
		case ra == 0:
			return saved == 0
		case !q.Modules.IsCode(ra - 1):
			return false
		case q.MayFollowCall(ra):
			return true
		case q.Modules.Find(ra-1) != nil:
			return false
		}
		fp, sp = saved, fp+uint64(a.FrameRecord)
	}
	return true
}
