// Command prog is what the function tables of tests are of: inlined calls in each other,
// methods, closures, generic functions, wrappers, assembly, frames small and large. It
// imports nothing, so that it is built quickly for any processor.
package main

type point struct{ x, y int }

func (p point) sum() int    { return add(p.x, p.y) }
func (p *point) move(d int) { p.x = add(p.x, d); p.y = add(p.y, d) }
func add(a, b int) int      { return twice(a) + b }
func twice(a int) int       { return a + a }

//go:noinline
func largest[T int | string](list ...T) (m T) {
	for _, x := range list {
		if less(m, x) {
			m = x
		}
	}
	return m
}

func less[T int | string](a, b T) bool { return a < b }

type summer interface{ sum() int }

//go:noinline
func total(list []summer) (n int) {
	for _, s := range list {
		n += s.sum()
	}
	return n
}

//go:noinline
func deep(n int) int {
	var room [3000]byte
	room[n%len(room)] = byte(n)
	if n == 0 {
		return int(room[0])
	}
	return deep(n-1) + int(room[n%len(room)])
}

//go:noinline
func deferred(f func() int) (n int) {
	defer func() {
		if r := recover(); r != nil {
			n = -1
		}
	}()
	return f()
}

func main() {
	p := &point{1, 2}
	p.move(3)
	seen := 0
	count := func(d int) int { seen += add(d, len(largest("a", "b"))); return seen }
	c := make(chan int)
	go func() { c <- count(deep(4)) }()
	println(<-c, total([]summer{p, *p}), largest(1, 2, 3), deferred(func() int { return []int{1}[count(9)] }))
}
