package pace

// GrowStack gives the calling goroutine's stack 32 KiB at once. A stack that grows step by step is
// moved at each step, and the run time then looks for each of its frames into tables that lie far
// apart in the program's file: that takes longer, and maps two megabytes of it.
func GrowStack() { needStack(false) }

// needStack has a large frame, which it does not touch.
//
//go:noinline
func needStack(touch bool) {
	if touch {
		var room [24 << 10]byte
		stackSink = append(stackSink[:0], room[:]...) // or the compiler would leave out the room
	}
}

var stackSink []byte
