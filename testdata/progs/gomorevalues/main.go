// Gomorevalues has values of Go's types that programs seldom have, as locals of one function. It
// starts, announces itself and ends as ../ready.h has it.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

type (
	names   []string
	table   map[string]names
	self    []self
	handler func(int) error
	flags   uint16
	large   [40]int
	tree    struct {
		left, right *tree
		key         int
	}
	base struct {
		id   int
		_    int8
		next *base
	}
	derived struct {
		base
		*tree
		io.Writer
		sync.Mutex
		call handler
	}
	pair[K comparable, V any] struct {
		key   K
		value V
	}
)

const (
	readable flags = 1 << iota
	writable
	executable
)

func (f flags) String() string { return "flags" }

func (p *pair[K, V]) swap(with V) V {
	old := p.value
	p.value = with
	stop()
	return old
}

func main() {
	syscall.RawSyscall6(syscall.SYS_PRCTL, 0x59616d61, ^uintptr(0), 0, 0, 0, 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(2) })
	maps()
}

//go:noinline
func maps() {
	deleted := map[int]int{}
	for i := range 1000 {
		deleted[i] = i
	}
	for i := range 1000 {
		if i%7 != 0 {
			delete(deleted, i)
		}
	}
	emptied := map[string]bool{"a": true}
	delete(emptied, "a")
	wide := map[large]large{{1}: {2}}
	small := map[int8]struct{}{1: {}}
	nested := map[string]map[string][]int{"outer": {"inner": {1, 2}}}
	named := table{"list": {"x", "y"}}
	pointers := map[*int]any{nil: nil}
	structs := map[pair[string, int]]*base{{"k", 1}: {id: 5}}
	thousand := map[string]int{}
	for i := range 1000 {
		thousand[fmt.Sprint("key", i)] = i
	}
	var none table
	composites()
	keep(deleted, emptied, wide, small, nested, named, pointers, structs, thousand, none)
}

//go:noinline
func composites() {
	one := 1
	pointer := &one
	double := &pointer
	triple := &double
	root := &tree{left: &tree{key: 1}, key: 2}
	both := derived{base: base{id: 1}, tree: root, Writer: os.Stdout, call: func(int) error { return nil }}
	slices_of_slices := self{nil, self{}, self{nil}}
	cycle := &base{id: 3}
	cycle.next = cycle
	grid := [2][3]float32{{1.5, -2, 1e30}, {0, float32(math.Inf(1)), 0.1}}
	none := [0]int{}
	slices := [][]int{{1}, nil, {}, {2, 3}}
	pairs := []pair[string, any]{{"a", 1}, {"b", "two"}, {"c", nil}}
	var inner any = &one
	to_interface := &inner
	endless()
	keep(double, triple, root, &both, slices_of_slices, cycle, grid, none, slices, pairs, to_interface)
}

// endless has a slice that contains itself. Delve 1.27 ends by a stack overflow when it reads that.
//
//go:noinline
func endless() {
	loop := self{nil, self{}, nil}
	loop[0] = loop
	interfaces()
	keep(loop)
}

//go:noinline
func interfaces() {
	many := []any{1, "two", 3.5, nil, []int{4}, map[int]int{5: 6}, [2]bool{true}, pair[int, int]{7, 8}, &pair[int, string]{9, "x"}, errors.New("e"), 'c', 2i}
	var writer io.Writer = os.Stdout
	var number any = flags(5)
	var function any = interfaces
	var channel any = make(chan int, 3)
	var structure any = struct{ p *int }{}
	var empty any = struct{}{}
	var array any = [1]*int{}
	var pointer_to_pointer any = new(*int)
	var nil_pointer any = (*tree)(nil)
	joined := errors.Join(errors.New("first"), io.EOF)
	var failure error = &os.PathError{Op: "open", Path: "/nowhere", Err: syscall.ENOENT}
	var stringer fmt.Stringer = writable
	numbers()
	keep(many, writer, number, function, channel, structure, empty, array, pointer_to_pointer, nil_pointer, joined, failure, stringer)
}

//go:noinline
func numbers() {
	mode, all, other, zero := readable, readable|executable, flags(9), flags(0)
	not, infinite, tiny := math.NaN(), math.Inf(-1), math.SmallestNonzeroFloat64
	narrow, third := complex64(1-2i), 1.0/3
	huge, negative := uint64(math.MaxUint64), int64(math.MinInt64)
	unsafe_pointer, address := unsafe.Pointer(nil), uintptr(0xdeadbeef)
	var no_function handler
	var no_channel chan<- names
	year := time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC)
	started := time.Now()
	var unset time.Time
	text := "quote \" backslash \\ \x00 \u2028 \xff \U0001f600"
	generic := &pair[string, float64]{"key", 1.5}
	result := generic.swap(2.5)
	keep(&mode, &all, &other, &zero, &not, &infinite, &tiny, &narrow, &third, &huge, &negative, &unsafe_pointer, &address, &no_function, &no_channel, &year, &started, &unset, &text, &result)
}

//go:noinline
func stop() {
	var char [1]byte
	syscall.Write(1, []byte("ready\n"))
	for {
		if n, _ := syscall.Read(0, char[:]); n <= 0 {
			break
		}
	}
	os.Exit(0)
}

//go:noinline
func keep(values ...any) {}
