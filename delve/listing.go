//go:build linux && (amd64 || arm64)

package delve

import (
	"github.com/go-delve/delve/pkg/proc"
)

// listing is what Delve has of stacks, to find physical frames in.
type listing map[place][]proc.Stackframe

// place tells physical frames apart. What is found there begins with the calls that are
// inlined in the frame, and ends with the outermost caller that Delve knows.
type place struct{ pc, cfa uint64 }

// add puts a stack into the listing, where it does not have the frame already.
func (l listing) add(frames []proc.Stackframe) {
	for len(frames) > 0 {
		n := group(frames)
		f := &frames[n-1]
		if f.Err != nil || f.Inlined {
			break
		}
		at := place{f.Current.PC, uint64(f.Regs.CFA)}
		if _, known := l[at]; !known {
			l[at] = frames
		}
		frames = frames[n:]
	}
}

// group returns how many of the frames are one physical frame and what is inlined in it.
func group(frames []proc.Stackframe) int {
	for i := range frames {
		if !frames[i].Inlined {
			return i + 1
		}
	}
	return len(frames)
}
