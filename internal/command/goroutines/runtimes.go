package goroutines

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/target"
)

// runtimeList are the runtimes of Go in a target: mostly one. A list of their goroutines has one
// runtime's after the other's.
type runtimeList []*goroutine.Runtime

// appendAll lists the goroutines of all. It appends them to list, which is empty.
func (rs runtimeList) appendAll(list []goroutine.Goroutine, mem target.Memory) ([]goroutine.Goroutine, error) {
	var failed error
	for _, r := range rs {
		n := len(list)
		more, err := r.AppendAll(list[n:], mem)
		if err != nil && len(rs) > 1 {
			err = fmt.Errorf("%s: %w", r.Module().Path, err)
		}
		if n > 0 {
			more = append(list, more...)
		}
		list, failed = more, errors.Join(failed, err)
	}
	return list, failed
}

// waits returns what the goroutines of a list wait for, as [goroutine.Runtime.Waits] does.
func (rs runtimeList) waits(
	mem target.Memory, list []goroutine.Goroutine,
) (waits [][]goroutine.Wait, objects []goroutine.Object) {
	for _, r := range rs {
		n := len(waits)
		w, o := r.Waits(mem, ofRuntime(list[n:], r.Module()))
		for _, of := range w {
			for i := range of {
				of[i].Object += len(objects)
			}
		}
		waits, objects = append(waits, w...), append(objects, o...)
	}
	return waits, objects
}

// ofRuntime returns the first goroutines of a list, which are the ones of a module's runtime.
func ofRuntime(list []goroutine.Goroutine, m *target.Module) []goroutine.Goroutine {
	n := slices.IndexFunc(list, func(g goroutine.Goroutine) bool { return g.Module != m })
	if n < 0 {
		n = len(list)
	}
	return list[:n]
}

// earlier returns the seats in an earlier list, from the first on, that are of the same runtime as
// a goroutine.
func earlier(before []seat, g *goroutine.Goroutine) []seat {
	other := func(s seat) bool { return s.of != g.Module }
	first := slices.IndexFunc(before, func(s seat) bool { return !other(s) })
	if first < 0 {
		return nil
	}
	before = before[first:]
	if n := slices.IndexFunc(before, other); n >= 0 {
		before = before[:n]
	}
	return before
}

// runtimeName says which runtime has a goroutine, of several in one process.
type runtimeName struct {
	whole string // the module's path, with the address where it is mapped if several have this path
	short string // the path's last part, if that tells them apart
}

// names returns the names of the runtimes, by module; none if there is one runtime.
func (rs runtimeList) names() map[*target.Module]runtimeName {
	names := map[*target.Module]runtimeName{}
	if len(rs) < 2 {
		return names
	}
	paths, last := map[string]int{}, map[string]int{}
	for _, r := range rs {
		paths[r.Module().Path]++
		last[filepath.Base(r.Module().Path)]++
	}
	for _, r := range rs {
		m := r.Module()
		n := runtimeName{whole: m.Path, short: filepath.Base(m.Path)}
		if paths[m.Path] > 1 {
			n.whole = fmt.Sprintf("%s at %#x", m.Path, m.Mappings[0].Lo)
		}
		if last[n.short] > 1 {
			n.short = n.whole
		}
		names[m] = n
	}
	return names
}

// OfRuntime says of which runtime a goroutine is, if there are several: " of libwork.so".
func (g *Entry) OfRuntime() string {
	if g.Runtime == "" {
		return ""
	}
	return " of " + g.runtime
}
