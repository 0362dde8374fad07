package erts

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed layouts/*.txt
var layoutFiles embed.FS

// Layout says where structures have their fields, and how large they are, bytes.
type Layout struct {
	Release int
	fields  map[string]uint64
}

// Has reports whether the release has a field.
func (l *Layout) Has(name string) bool {
	_, ok := l.fields[name]
	return ok
}

// Of returns the offset of a field, or a size. The name must be one that every release has, or that
// [Layout.Has] knows.
func (l *Layout) Of(name string) uint64 {
	v, ok := l.fields[name]
	if !ok {
		panic("erts: the layout has no " + name)
	}
	return v
}

// layouts returns the layouts of a flavour, "jit" or "emu". A release may have two.
var layouts = map[string]func() []*Layout{
	"jit": sync.OnceValue(func() []*Layout { return readLayouts("jit") }),
	"emu": sync.OnceValue(func() []*Layout { return readLayouts("emu") }),
}

func readLayouts(flavour string) (list []*Layout) {
	entries, _ := layoutFiles.ReadDir("layouts")
	for _, e := range entries {
		parts := strings.Split(strings.TrimSuffix(e.Name(), ".txt"), "-")
		if parts[1] != flavour {
			continue
		}
		n, err := strconv.Atoi(parts[0])
		text, err2 := layoutFiles.ReadFile("layouts/" + e.Name())
		if err != nil || err2 != nil {
			panic(e.Name())
		}
		l := &Layout{n, map[string]uint64{}}
		for line := range strings.Lines(string(text)) {
			var name string
			var v uint64
			if n, _ := fmt.Sscan(line, &name, &v); n == 2 {
				l.fields[name] = v
			}
		}
		list = append(list, l)
	}
	return list
}

// nearest returns the layouts to be tried for a release: its own alone, else the others, the
// nearest first.
func nearest(list []*Layout, release int) []*Layout {
	if own := slices.DeleteFunc(slices.Clone(list), func(l *Layout) bool { return l.Release != release }); len(own) > 0 {
		return own
	}
	distance := func(l *Layout) int { return max(l.Release-release, release-l.Release) }
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Layout) int { return cmp.Compare(distance(a), distance(b)) })
	return list
}

// LayoutOf returns the layout of a release, or of its nearest neighbour. flavour is "jit" or "emu".
func LayoutOf(flavour string, release int) *Layout { return nearest(layouts[flavour](), release)[0] }
