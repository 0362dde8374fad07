//go:build linux && (amd64 || arm64 || s390x)

package capture_test

import (
	"fmt"
	"runtime"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/capture"
)

//go:noinline
func captured(c *capture.Context) { c.Capture() }

// A goroutine prints its own stack. The context may be walked later, and by another goroutine.
func Example() {
	var c capture.Context
	captured(&c)

	program, err := capture.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()
	table := sniffer.Table(arch.ByName(runtime.GOARCH))
	t, err := program.Target(&c, table)
	if err != nil {
		fmt.Println(err)
		return
	}
	threads, _ := t.Threads()
	stack, err := frame.New(t, threads[0], table)
	if err != nil {
		fmt.Println(err)
		return
	}
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	for f, err := range logical.New(t, symbols).All(stack) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if f.Level < 2 {
			fmt.Println(f.Function)
		}
	}
	// Output:
	// github.com/sfwalk/sfwalk/target/capture_test.captured
	// github.com/sfwalk/sfwalk/target/capture_test.Example
}
