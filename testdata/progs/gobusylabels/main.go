// Command gobusylabels is a Go program whose busy goroutines have labels of runtime/pprof. Each
// label has a function of its own, so that a stack tells which labels its goroutine must have had.
// It writes its own profile of the processor's time to the file that its argument names, when
// standard input ends.
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"syscall"
	"time"
)

var sink [8]uint64

//go:noinline
func spin(slot int, n int) {
	for i := range n {
		sink[slot] = sink[slot]*6364136223846793005 + uint64(i)
	}
}

//go:noinline
func steadyBlue(slot int) { spin(slot, 1<<18); spin(slot, 1) }

//go:noinline
func steadyRed(slot int) { spin(slot, 1<<18); spin(slot, 1) }

//go:noinline
func changingEven(slot int) { spin(slot, 1<<25); spin(slot, 1) }

//go:noinline
func changingOdd(slot int) { spin(slot, 1<<24); spin(slot, 1) }

//go:noinline
func briefOne(slot int) { spin(slot, 1<<19); spin(slot, 1) }

//go:noinline
func plain(slot int) { spin(slot, 1<<18); spin(slot, 1) }

func steady(slot int, tenant string, f func(int)) {
	pprof.Do(context.Background(), pprof.Labels("tenant", tenant, "kind", "steady"), func(context.Context) {
		for {
			f(slot)
		}
	})
}

// changing has one label after the other.
func changing(slot int) {
	for {
		for _, x := range []struct {
			turn string
			f    func(int)
		}{{"even", changingEven}, {"odd", changingOdd}} {
			pprof.Do(context.Background(), pprof.Labels("kind", "changing", "turn", x.turn), func(context.Context) { x.f(slot) })
		}
	}
}

// brief has each goroutine live for about a millisecond: the next may have its struct g.
func brief(slot int) {
	done := make(chan bool)
	for {
		go pprof.Do(context.Background(), pprof.Labels("kind", "brief"), func(context.Context) {
			briefOne(slot)
			done <- true
		})
		<-done
		go func() {
			plain(slot)
			done <- true
		}()
		<-done
	}
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or 120 seconds end the
	// process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })

	profile, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(profile); err != nil {
		panic(err)
	}
	go steady(0, "blue", steadyBlue)
	go steady(1, "red", steadyRed)
	go changing(2)
	go brief(3)
	os.Stdout.WriteString("ready\n")
	var b [1]byte
	for {
		if n, _ := os.Stdin.Read(b[:]); n == 0 {
			break
		}
	}
	pprof.StopCPUProfile()
	profile.Close()
}
