package value_test

import (
	"context"
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// Print the local variables of all frames of a process's first thread.
func ExampleReader_Frame() {
	pid := 4242
	t, err := live.Attach(context.Background(), pid, live.Options{Values: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	symbols := symbol.New(symbol.Options{Entries: true})
	defer symbols.Close()
	threads, err := t.Threads()
	if err != nil || len(threads) == 0 {
		fmt.Println("no thread", err)
		return
	}
	stack, err := frame.New(t, threads[0], sniffer.Table(t.Arch()))
	if err != nil {
		fmt.Println(err)
		return
	}
	reader, memory := value.NewReader(t, symbols, printers.All()), target.MemoryOf(t, threads[0])
	for f, err := range logical.New(t, symbols).All(stack) {
		if err != nil {
			break
		}
		in, err := reader.Frame(&f, memory)
		if err != nil {
			continue // the debug information of the function is broken
		}
		for i := range in.Locals {
			v := &in.Locals[i]
			x := v.Value() // with its Type, Place, Addr, bytes and children
			fmt.Println(v.Name, x.Type, x.Err(), (&value.Printer{}).Text(&x))
		}
		in.Release() // so that the next frame takes its room
	}
}
