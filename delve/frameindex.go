//go:build linux && (amd64 || arm64)

package delve

import (
	"github.com/go-delve/delve/pkg/proc"
)

// frameIndex finds physical frames in Delve's stacks.
type frameIndex map[frameKey][]proc.Stackframe

// frameKey tells physical frames apart. The frames at a key begin with the calls that are
// inlined in that physical frame, and end with the outermost caller that Delve knows.
type frameKey struct{ pc, cfa uint64 }

// add adds the frames of a stack that the index does not have yet.
func (l frameIndex) add(frames []proc.Stackframe) {
	for len(frames) > 0 {
		n := group(frames)
		f := &frames[n-1]
		if f.Err != nil || f.Inlined {
			break
		}
		at := frameKey{f.Current.PC, uint64(f.Regs.CFA)}
		if _, known := l[at]; !known {
			l[at] = frames
		}
		frames = frames[n:]
	}
}

// group returns how many frames at the head of the list are one physical frame: itself, and
// the calls inlined in it.
func group(frames []proc.Stackframe) int {
	for i := range frames {
		if !frames[i].Inlined {
			return i + 1
		}
	}
	return len(frames)
}
