package php

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const imageAt = 0x10000

// small is an engine whose structures are as in 8.2; its state is at the memory's beginning.
func small(t testing.TB) *engine {
	l, err := layoutOf(20220829)
	if err != nil || l == nil {
		t.Fatalf("no layout: %v", err)
	}
	return &engine{layout: l, arch: amd64.Arch, where: places{state: state{globals: imageAt}}}
}

// Where the image has things.
const (
	callsAt     = 0x700 // two calls, and the record that stands for a generator between them
	functionsAt = 0x900
	stringsAt   = 0xb00
	opsAt       = 0xc00
	objectAt    = 0xd00
)

// made is the memory of a process in which Shop->serve, a generator, gives values to a generator
// that waits for it in line 7, called by the code of a file.
func made(l *layout) []byte {
	m := make([]byte, 0xf00)
	order := binary.LittleEndian
	put := func(at int, v uint64) { order.PutUint64(m[at:], v) }
	field := func(at int, f field, v uint64) { put(at+int(l.at[f]), v) }
	text := func(at int, s string) uint64 {
		field(at, stringLen, uint64(len(s)))
		copy(m[at+int(l.at[stringVal]):], s)
		return imageAt + uint64(at)
	}
	ops := uint64(imageAt + opsAt)
	for i := range 3 {
		order.PutUint32(m[opsAt+32*i+int(l.at[opLine]):], uint32(6+i))
	}
	serve, file := text(stringsAt, "serve"), text(stringsAt+0x30, "/srv/shop.php")
	shop, generator := text(stringsAt+0x60, "Shop"), text(stringsAt+0x90, "Generator")
	classes := functionsAt + 0x180
	field(classes, className, shop)
	field(classes+0x20, className, generator)
	function := func(at int, name, class uint64) {
		m[at] = userFunction
		field(at, funcName, name)
		field(at, funcScope, class)
		field(at, funcFile, file)
		field(at, funcOpcodes, ops)
		order.PutUint32(m[at+int(l.at[funcLast]):], 3)
	}
	function(functionsAt, serve, imageAt+uint64(classes))
	function(functionsAt+0xc0, 0, 0)
	call := func(at int, fn, op, prev uint64, object uint64, info uint32) {
		field(at, callFunc, fn)
		field(at, callOpline, op)
		field(at, callPrev, prev)
		field(at, callThis, object)
		order.PutUint32(m[at+int(l.at[callThis]+l.at[zvalType]):], info)
	}
	const top = 1 << 17
	call(callsAt, imageAt+functionsAt, ops, imageAt+callsAt+0x80, imageAt+objectAt, top|1<<24|isObject)
	call(callsAt+0x80, 0, 0, imageAt+callsAt+0x100, imageAt+objectAt, isObject)
	call(callsAt+0x100, imageAt+functionsAt+0xc0, ops+64, 0, 0, top)
	call(callsAt+0x180, imageAt+functionsAt, ops+32, 0, imageAt+objectAt, top|1<<24|isObject)
	field(objectAt, objectClass, imageAt+uint64(classes)+0x20)
	field(objectAt, generatorCall, imageAt+callsAt+0x180)
	field(objectAt, generatorParent, imageAt+objectAt+0x100)
	field(objectAt+0x100, generatorCall, imageAt+callsAt)
	field(0, globalsCurrent, imageAt+callsAt)
	return m
}

func frames(e *engine, data []byte) (list []string) {
	r := structs.New(e.arch, memtest.Flat{Lo: imageAt, Data: data}, &e.spare)
	defer r.Free()
	c := e.newChain(r, e.where.state)
	c.read(r.Pointer(c.globals + e.layout.at[globalsCurrent]))
	p := placing{chain: c}
	for i := range c.calls {
		c.runEnd(i)
		p.add(i, i+1, language.Anchor{}, &activation{first: i, opline: c.calls[i].opline})
	}
	for _, g := range p.groups {
		for _, f := range g.Frames {
			list = append(list, f.Function+" "+f.File+":"+string(rune('0'+f.Line%10))+" "+f.Kind)
		}
	}
	return list
}

// The image that the fuzz test begins with is a good one.
func TestMade(t *testing.T) {
	e := small(t)
	got := frames(e, made(e.layout))
	want := []string{"Shop->serve /srv/shop.php:6 generator", "Shop->serve /srv/shop.php:7 generator", "{main} /srv/shop.php:8 "}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzCalls reads the calls of a malicious process.
func FuzzCalls(f *testing.F) {
	e := small(f)
	f.Add(made(e.layout))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20+1024*len(data), func() { frames(e, data) })
	})
}

// FuzzTasks lists the fibers and generators of a malicious process.
func FuzzTasks(f *testing.F) {
	e := small(f)
	data := made(e.layout)
	order := binary.LittleEndian
	order.PutUint64(data[e.layout.at[globalsObjectBuckets]:], imageAt+0xe80)
	order.PutUint32(data[e.layout.at[globalsObjectTop]:], 4)
	order.PutUint64(data[0xe88:], imageAt+objectAt)
	order.PutUint64(data[0xe90:], 1)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 48<<20, func() { e.Tasks(memtest.Flat{Lo: imageAt, Data: data}) })
	})
}

// FuzzVariables reads the variables of a malicious process's innermost call.
func FuzzVariables(f *testing.F) {
	e := small(f)
	data := made(e.layout)
	data[callsAt+int(e.layout.at[callSize]+e.layout.at[zvalType])] = typeString
	f.Add(data, uint16(4))
	f.Fuzz(func(t *testing.T, data []byte, variables uint16) {
		bounds.Hold(t, 4<<20, func() {
			r := structs.New(e.arch, memtest.Flat{Lo: imageAt, Data: data}, &e.spare)
			defer r.Free()
			c := e.newChain(r, e.where.state)
			c.variables(&call{at: imageAt + callsAt, function: &function{names: imageAt, variables: uint64(variables), parameters: 2}})
		})
	})
}

// asked is the memory of a worker that serves a request: the structures of requests begin at it.
func asked(l *layout) []byte {
	const context, texts = 0x400, 0x300
	m := make([]byte, context+parametersTo+0x100)
	order := binary.LittleEndian
	put := func(at int, v uint64) { order.PutUint64(m[at:], v) }
	text := func(at int, s string) uint64 { copy(m[at:], s+"\x00"); return uint64(imageAt + at) }
	put(int(l.at[requestContext]), imageAt+context)
	put(int(l.at[requestMethod]), text(texts, "GET"))
	put(int(l.at[requestURI]), text(texts+8, "/index.php"))
	entry := context + parametersTo
	put(context+parametersFrom+24, imageAt+uint64(entry))
	for i, s := range [][2]string{{"HTTP_HOST_X", "a"}, {"REQUEST_URI", "/all?x=1"}} {
		at := entry + 48*i
		order.PutUint32(m[at+parameterNameLength:], uint32(len(s[0])))
		put(at+parameterName, text(texts+0x20+0x40*i, s[0]))
		order.PutUint32(m[at+parameterLength:], uint32(len(s[1])))
		put(at+parameterValue, text(texts+0x40+0x40*i, s[1]))
		put(at+parameterNext, imageAt+uint64(entry)+48) // the last one leads to itself
	}
	return m
}

func serves(e *engine, data []byte) string {
	r := structs.New(e.arch, memtest.Flat{Lo: imageAt, Data: data}, &e.spare)
	defer r.Free()
	c := e.newChain(r, e.where.state)
	c.request = imageAt
	return c.about()
}

// TestAsked holds the request of the image that FuzzRequest begins with.
func TestAsked(t *testing.T) {
	e := small(t)
	data := asked(e.layout)
	if got := serves(e, data); got != "serves GET /all?x=1" {
		t.Errorf("%q", got)
	}
	clear(data[0x400:])
	if got := serves(e, data); got != "serves GET /index.php" {
		t.Errorf("without parameters: %q", got)
	}
}

// FuzzRequest reads the request of a malicious process.
func FuzzRequest(f *testing.F) {
	e := small(f)
	f.Add(asked(e.layout))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20+16*len(data), func() { serves(e, data) })
	})
}
