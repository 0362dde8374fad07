package elf

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// nameIndex finds the symbols of a table by their names. A table that has no hash table gets one
// when so many names are looked up that reading all names for each takes longer.
type nameIndex struct {
	seed  maphash.Seed
	first []uint32 // by hash: the number of the last symbol that has it, from 1; 0 if none has
	links []nameLink
}

// nameLink is a defined symbol.
type nameLink struct{ hash, before uint32 } // before is the number of the symbol before it in its chain, from 1

// manyScans is how many names are looked up without an index.
const manyScans = 8

// index returns the index of the table's names; nil if it has none.
func (t *symbolTable) index() *nameIndex {
	t.indexing.Lock()
	defer t.indexing.Unlock()
	if t.scans++; t.scans == manyScans+1 {
		t.names = t.newNameIndex()
	}
	return t.names
}

// newNameIndex reads all names once. It returns nil if there is no room for an index, or if names
// lie in each other.
func (t *symbolTable) newNameIndex() *nameIndex {
	names := t.strings.now()
	n := t.entries.size / int64(t.im.symbolSize())
	if n == 0 || names.size > t.im.there || t.entries.size > t.im.there {
		return nil
	}
	const head, link = 4, 8 // bytes
	kept := n * (head + link)
	if !t.im.Reserve(kept + names.size) {
		return nil
	}
	defer t.im.Release(names.size)
	text := names.bytes(0, names.size)
	if text == nil {
		t.im.Release(kept)
		return nil
	}
	const share = 8 // names that linkers let be the end of others come to some two times their table
	left := share*len(text) + 1<<16
	x := &nameIndex{seed: maphash.MakeSeed(), first: make([]uint32, n), links: make([]nameLink, 0, n)}
	t.each(func(_ int, r *rawSymbol) {
		x.links = append(x.links, nameLink{})
		if r.undefined || int64(r.name) >= int64(len(text)) || len(x.links) > len(x.first) || left < 0 {
			return
		}
		name := text[r.name:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		left -= len(name)
		h := maphash.Bytes(x.seed, name)
		at := &x.first[h%uint64(n)]
		x.links[len(x.links)-1] = nameLink{uint32(h >> 32), *at}
		*at = uint32(len(x.links))
	})
	if left < 0 {
		t.im.Release(kept)
		return nil
	}
	return x
}

// called returns the ascending indexes of the symbols in t that are called name.
func (x *nameIndex) called(t *symbolTable, name string) (list []int) {
	h := maphash.String(x.seed, name)
	for at := x.first[h%uint64(len(x.first))]; at != 0; at = x.links[at-1].before {
		if x.links[at-1].hash != uint32(h>>32) {
			continue
		}
		if r, ok := t.symbol(int(at - 1)); ok && t.strings.is(r.name, name) {
			list = append(list, int(at-1))
		}
	}
	slices.Reverse(list)
	return list
}
