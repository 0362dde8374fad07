package elf

// gnuHash is the hash function of SHT_GNU_HASH.
func gnuHash(name string) uint32 {
	h := uint32(5381)
	for i := range len(name) {
		h = h*33 + uint32(name[i])
	}
	return h
}

// Bounds on a look-up: how many symbols of one hash are looked at, how many in one chain. Files
// have as many as a name has versions, and a few in a chain.
const maxHashed, maxChain = 64, 4096

// hashed returns the ascending indexes of the defined symbols called name, by the table's GNU hash.
// ok is false if it has none, or one that is of no use.
func (t *symbolTable) hashed(name string) (list []int, ok bool) {
	order, word := t.im.Order, int64(t.im.WordSize())
	header := t.hash.bytes(0, 16)
	if header == nil {
		return nil, false
	}
	buckets, first, blooms := int64(order.Uint32(header)), int64(order.Uint32(header[4:])), int64(order.Uint32(header[8:]))
	shift, h := order.Uint32(header[12:]), gnuHash(name)
	before, ok := t.definedBefore(first)
	if buckets == 0 || blooms == 0 || !ok {
		return nil, false
	}
	add := func(i int) {
		if r, ok := t.symbol(i); ok && !r.undefined && t.strings.is(r.name, name) {
			list = append(list, i)
		}
	}
	for _, i := range before {
		add(i)
	}
	bits := uint32(8 * word)
	bloom := t.hash.bytes(16+int64(h/bits)%blooms*word, word)
	at := 16 + blooms*word
	bucket := t.hash.bytes(at+4*(int64(h)%buckets), 4)
	if bloom == nil || bucket == nil {
		return nil, false
	}
	i := int64(order.Uint32(bucket))
	if mask := uint64(1)<<(h%bits) | uint64(1)<<(h>>shift%bits); t.im.Word(bloom)&mask != mask || i == 0 {
		return list, true
	}
	if i < first {
		return nil, false
	}
	chain := at + 4*(buckets-first)
	looked := 0
	for range maxChain {
		b := t.hash.bytes(chain+4*i, 4)
		if b == nil {
			break
		}
		c := order.Uint32(b)
		if c|1 == h|1 {
			if looked++; looked > maxHashed {
				break
			}
			add(int(i))
		}
		if c&1 != 0 { // the chain ends
			return list, true
		}
		i++
	}
	return nil, false
}

// definedBefore returns the defined symbols that the hash table leaves out: they stand before the
// first one that it has. Most files have no such symbols. ok is false if there are many.
func (t *symbolTable) definedBefore(first int64) (list []int, ok bool) {
	t.beforeOnce.Do(func() {
		size := t.im.symbolSize()
		t.beforeOK = first <= t.entries.size/int64(size)
		if !t.beforeOK {
			return
		}
		var r rawSymbol
		head := part{t.entries, first * int64(size), nil}
		if t.entries.data != nil {
			head = inMemory(t.entries.data[:head.size])
		}
		i := 0
		err := head.each(0, func(_ int64, b []byte) bool {
			for ; len(b) >= size && t.beforeOK; b = b[size:] {
				if t.im.rawSymbol(b, &r); !r.undefined && r.name != 0 {
					t.before = append(t.before, i)
					t.beforeOK = len(t.before) <= maxHashed
				}
				i++
			}
			return t.beforeOK
		})
		t.beforeOK = t.beforeOK && err == nil
	})
	return t.before, t.beforeOK
}
