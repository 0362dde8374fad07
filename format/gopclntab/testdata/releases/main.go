// Command releases is what the tables of several Go releases are of. It prints what the runtime
// itself reads from its table: the line of each address of its functions, and stacks with
// inlined calls. Addresses count from the function base.
package main

import "runtime"

//go:noinline
func base() uintptr {
	pc, _, _, _ := runtime.Caller(0)
	return runtime.FuncForPC(pc).Entry()
}

type point struct{ x, y int }

func (p point) sum() int { return middle(p.x) + p.y }

//go:noinline
func outer(n int) int {
	var room [500]byte
	room[n] = byte(stack(n))
	return middle(n) + (&point{n, n}).sum() + int(room[n])
}

func middle(n int) int { return inner(n+1) + 1 }
func inner(n int) int  { return stack(n) * n }

// stack prints where it was called from: a call for each line, the innermost first.
//
//go:noinline
func stack(n int) int {
	var pcs [10]uintptr
	pcs2 := pcs[:runtime.Callers(2, pcs[:])]
	print("stack ", pcs2[0]-1-base())
	frames := runtime.CallersFrames(pcs2)
	for {
		f, more := frames.Next()
		if !more || f.Function == "runtime.main" {
			break
		}
		print(" ", f.Function, " ", f.File, ":", f.Line)
	}
	print("\n")
	return n
}

func main() {
	outer(3)
	for pc := base(); runtime.FuncForPC(pc) != nil; pc++ {
		f, _ := runtime.CallersFrames([]uintptr{pc + 1}).Next()
		print("line ", pc-base(), " ", f.Function, " ", f.File, ":", f.Line, "\n")
	}
}
