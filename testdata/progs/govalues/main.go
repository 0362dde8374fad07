// Govalues has values of Go's types as arguments and locals of some functions. It starts, announces
// itself and ends as ../ready.h has it.
package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

type point struct {
	x int
	y float64
}

type embedded struct {
	point
	*other
	name string
}

type other struct{ next *other }

type colour uint8

const (
	red colour = iota
	green
)

type speaker interface{ speak(by int) string }

func (p point) speak(by int) string { return fmt.Sprint(p.x + by) }

type list[T any] struct {
	value T
	next  *list[T]
}

var global = map[string]int{"global": 1}

func main() {
	syscall.RawSyscall6(syscall.SYS_PRCTL, 0x59616d61, ^uintptr(0), 0, 0, 0, 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(2) })
	scalars(true, -1, 2, -3, 4, -5, 6, 7.5, 'x', 2+3i)
}

//go:noinline
func scalars(truth bool, a int8, b uint16, c int32, d uint32, e int64, f uintptr, g float64, letter rune, z complex128) int {
	small, byte_, word := uint8(200), byte('b'), int16(-300)
	float, huge := float32(0.1), ^uint64(0)
	col, duration := green, 90*time.Second
	pointer := &d
	var none *int
	result := texts("text", "", []byte("bytes"))
	keep(&truth, &a, &b, &c, &d, &e, &f, &g, &letter, &z, &small, &byte_, &word, &float, &huge, &col, &duration, &pointer, &none)
	return result
}

//go:noinline
func texts(text, empty string, bytes []byte) int {
	unicode, escapes := "grüße €😀", "tab\t\"quoted\"\n\x00\xff"
	lengthy := fmt.Sprint(make([]int, 200))
	part := unicode[1:3]
	runes := []rune("runes")
	names := []string{"one", "two"}
	array := [3]string{"a", "b"}
	result := containers([]int{1, 2, 3}, map[string]int{"one": 1, "two": 2}, [2][2]int{{1, 2}, {3, 4}})
	keep(&text, &empty, &bytes, &unicode, &escapes, &lengthy, &part, &runes, &names, &array)
	return result
}

//go:noinline
func containers(numbers []int, counts map[string]int, grid [2][2]int) int {
	var no_slice []int
	var no_map map[int]int
	empty := []string{}
	capacity := make([]byte, 2, 10)
	points := []point{{1, 2.5}, {3, -4}}
	pointers := []*point{&points[0], nil}
	many := map[int]string{}
	for i := range 300 {
		many[i] = fmt.Sprint(i)
	}
	nested := map[string][]int{"a": {1, 2}}
	set := map[point]struct{}{{1, 2}: {}}
	var no_channel chan int
	channel, full := make(chan int), make(chan string, 3)
	full <- "first"
	full <- "second"
	hundreds := make([]int, 300)
	for i := range hundreds {
		hundreds[i] = i + 1000
	}
	result := structs(point{1, 2}, &embedded{point: point{3, 4}, name: "embedded"})
	keep(&numbers, &counts, &grid, &no_slice, &no_map, &empty, &capacity, &points, &pointers, &many, &nested, &set, &no_channel, &channel, &full, &hundreds)
	return result
}

//go:noinline
func structs(by_value point, by_pointer *embedded) int {
	var nothing struct{}
	anonymous := struct {
		a int
		b string
	}{5, "anonymous"}
	cyclic := &other{}
	cyclic.next = cyclic
	chain := &list[string]{"first", &list[string]{"second", nil}}
	when := time.Unix(1700000000, 5).UTC()
	result := interfaces(by_value, errors.New("an error"), 5, nil)
	keep(&by_value, &by_pointer, &nothing, &anonymous, &cyclic, &chain, &when)
	return result
}

//go:noinline
func interfaces(speaks speaker, err error, anything, nothing any) int {
	var no_error error
	by_pointer := any(&point{7, 8})
	text := any("a string in an interface")
	wrapped := fmt.Errorf("wrapped: %w", err)
	result := functions(measure, point{9, 10}.speak, point.speak)
	keep(&speaks, &err, &anything, &nothing, &no_error, &by_pointer, &text, &wrapped)
	return result
}

//go:noinline
func functions(plain func(string) int, bound func(int) string, unbound func(point, int) string) int {
	captured, counter := "captured", 0
	var no_function func()
	closure := func(step int) int {
		counter += step
		inner := captured + "!"
		result := generic(list[int]{value: 5}, inner)
		keep(&inner)
		return result + counter
	}
	result := closure(3)
	keep(&plain, &bound, &unbound, &no_function, &closure)
	return result
}

func measure(s string) int { return 1 }

//go:noinline
func generic[T, U any](value list[T], by U) (named int) {
	shadowed := 1
	if shadowed := "inner"; named == 0 {
		defer func() { recover() }()
		for i, x := range []T{value.value} {
			named += (&point{1, 2}).method(i, shadowed)
			keep(&i, &x, &shadowed)
		}
	}
	keep(&value, &by, &shadowed)
	return named
}

//go:noinline
func (p *point) method(times int, _ string) int {
	if times > 0 {
		return p.method(times-1, "")
	}
	var char [1]byte
	syscall.Write(1, []byte("ready\n"))
	for {
		if n, _ := syscall.Read(0, char[:]); n <= 0 {
			break
		}
	}
	os.Exit(0)
	return p.x
}

//go:noinline
func keep(values ...any) {}
