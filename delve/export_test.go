//go:build linux && (amd64 || arm64)

package delve

import "github.com/go-delve/delve/pkg/proc"

// Lead leads Delve to a frame that Delve may also find by itself. called reports whether a call
// left the frame.
func Lead(f *Frame) (frames []proc.Stackframe, called bool) {
	k := &delveStack{subject: f.subject, opts: &Options{Depth: 10}, led: make(frameIndex)}
	cfa, _ := f.Physical.CFA()
	return k.lead(f.Physical, frameKey{f.Physical.PC(), cfa}), block(f.Physical) != f.Physical.PC()
}

// WithoutPrefix and Callee read the expressions of calls.
var (
	WithoutPrefix = withoutPrefix
	Callee        = callee
)
