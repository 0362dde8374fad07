// Command capturecgo walks its own stacks, of Go and C mixed, and prints the functions, innermost
// first.
//
// Build: go build -o DIR/capturecgo ./testdata/progs/capturecgo
package main

// #include "calls.h"
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/capture"
)

var program *capture.Program

//export goCallback
func goCallback(n C.int) {
	if n > 0 {
		C.c_outer(n - 1)
		return
	}
	var c capture.Context
	c.Capture()
	if err := show(&c); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func show(c *capture.Context) error {
	table := sniffer.Table(arch.ByName(runtime.GOARCH))
	tg, err := program.Target(c, table)
	if err != nil {
		return err
	}
	threads, err := tg.Threads()
	if err != nil {
		return err
	}
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		return err
	}
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	var names []string
	for f, err := range logical.New(tg, symbols).All(stack) {
		if err != nil {
			return fmt.Errorf("%q: %w", names, err)
		}
		names = append(names, f.Function)
	}
	fmt.Println(strings.Join(names, " "))
	return nil
}

func main() {
	var err error
	if program, err = capture.Open(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	goCallback(0)
	C.c_outer(0)
	C.c_outer(2)
	done := make(chan bool)
	go func() { C.c_outer(1); close(done) }()
	<-done
	C.c_thread()
}
