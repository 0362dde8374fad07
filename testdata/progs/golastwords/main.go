// Command golastwords dies of a panic, or of a fatal error, as its argument says. With hang, a
// deferred function sleeps.
//
// Build: go build -o DIR/golastwords ./testdata/progs/golastwords
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

type own struct {
	text string
	code int
}

func (e *own) Error() string { return fmt.Sprintf("%s: %d", e.text, e.code) }

type name string

type number int16

type point struct{ x, y int }

//go:noinline
func at(s []int, i int) int { return s[i] }

func main() {
	fmt.Println("ready")
	switch os.Args[1] {
	case "string":
		panic(strings.Repeat("again and ", 2) + os.Args[1])
	case "long":
		panic(strings.Repeat("0123456789", 300))
	case "error":
		panic(errors.New("an error\nof two lines"))
	case "wrapped":
		panic(fmt.Errorf("wrapped: %w", os.ErrNotExist))
	case "own":
		panic(&own{"own", 7})
	case "name":
		panic(name("x"))
	case "number":
		panic(number(-5))
	case "int":
		panic(-42)
	case "uint8":
		panic(uint8(200))
	case "bool":
		panic(true)
	case "struct":
		panic(point{1, 2})
	case "pointer":
		panic(&point{1, 2})
	case "map":
		panic(map[string]int{"x": 1})
	case "nil":
		panic(nil)
	case "index":
		fmt.Println(at([]int{1, 2, 3}, len(os.Args)+5))
	case "dereference":
		var p *point
		fmt.Println(p.x)
	case "another":
		defer func() { panic(fmt.Sprint("another: ", recover())) }()
		panic("first")
	case "again":
		defer func() { panic(recover()) }()
		panic("first")
	case "second":
		defer func() { panic("second") }()
		panic("first")
	case "deadlock":
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	case "unlock":
		var mu sync.Mutex
		mu.Unlock()
	case "goroutine":
		go func() { panic("in a goroutine") }()
		select {}
	case "hang":
		defer time.Sleep(time.Hour)
		panic(errors.New("while it hangs"))
	case "recovered":
		defer func() {
			recover()
			time.Sleep(time.Hour)
		}()
		panic(errors.New("nobody should see it"))
	}
}
