package guard

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// Op is what the owner asks the guard for.
type Op uint8

const (
	OpAttach Op = iota
	OpGet
	OpSet
	OpSave
	OpRestore
	OpReturned // OpRestore, but for the blocked signals
	OpDrop
	OpWrite
	OpInsert
	OpRemove
	OpResume // has no reply: OpWait's says what was wrong
	OpWait
	OpInterrupt // has no reply of its own: it ends a wait
	OpDetach
)

// Request is a message to the guard.
type Request struct {
	Op      Op
	PID     int
	TIDs    []int
	TID     int
	Note    uint32   // of OpSet
	Notes   []uint32 // of OpGet
	Data    []byte
	Addr    uint64
	Alone   bool
	Step    bool
	Signal  int
	Timeout int64  // of OpAttach, nanoseconds
	Arch    string // of OpAttach: the name of the process's architecture
}

// Reply is the guard's answer.
type Reply struct {
	Errno syscall.Errno
	Err   string // if Errno is 0
	Data  []byte
	N     int
	TIDs  []int // the threads that are held
	Late  []int // of OpAttach: the threads that could not be stopped yet
	Sizes []int // of OpGet: how many bytes of Data each set has
	Event Event
}

// EventKind says what has happened. The kinds are package inferior's.
type EventKind uint8

const (
	Interrupted EventKind = iota
	Breakpoint
	Stepped
	Signalled
	ThreadExited
	Exited
	Killed
	Execed
)

// Signal is package inferior's.
type Signal struct {
	Number     int
	Code       int
	Address    uint64
	HasAddress bool
	Sender     int
	Own        bool
}

// Event is package inferior's, without the thread.
type Event struct {
	Kind   EventKind
	TID    int
	Status int
	Signal Signal
}

// message is what goes over the socket: a request or a reply. A codec that knows more would take
// longer to begin than most calls take.
type message struct {
	words []int64
	data  []byte
	text  string
}

// MaxMessage bounds a message, bytes.
const MaxMessage = 1 << 22

// send writes a message, as words of 8 bytes but for data and text: how many bytes follow, how many
// words there are, these, how long data is, and data and text.
func (m *message) send(to io.Writer) error {
	n := 8*(2+len(m.words)) + len(m.data) + len(m.text)
	if n > MaxMessage {
		return errors.New("a message of " + strconv.Itoa(n) + " bytes")
	}
	b := appendWord(make([]byte, 0, 8+n), int64(n))
	b = appendWord(b, int64(len(m.words)))
	for _, w := range m.words {
		b = appendWord(b, w)
	}
	b = append(appendWord(b, int64(len(m.data))), m.data...)
	_, err := to.Write(append(b, m.text...))
	return err
}

func appendWord(b []byte, w int64) []byte { return append(b, (*[8]byte)(unsafe.Pointer(&w))[:]...) }

func firstWord(b []byte) int64 { return *(*int64)(unsafe.Pointer(&b[0])) }

var errMessage = errors.New("a message that is none")

// Reader reads messages.
type Reader struct {
	from io.Reader
	b    []byte // what was read and not taken
}

// NewReader returns a Reader.
func NewReader(from io.Reader) *Reader { return &Reader{from: from} }

// has reports whether there is something of a message.
func (r *Reader) has() bool { return len(r.b) > 0 }

// fill reads until there are n bytes.
func (r *Reader) fill(n int) error {
	for len(r.b) < n {
		r.b = slices.Grow(r.b, max(n-len(r.b), 512))
		got, err := r.from.Read(r.b[len(r.b):cap(r.b)])
		if r.b = r.b[:len(r.b)+got]; err != nil {
			return err
		}
	}
	return nil
}

// receive reads a message.
func (r *Reader) receive() (m message, err error) {
	if err := r.fill(8); err != nil {
		return m, err
	}
	n := firstWord(r.b)
	if n < 0 || n > MaxMessage {
		return m, errMessage
	}
	if err := r.fill(8 + int(n)); err != nil {
		return m, err
	}
	b := r.b[8 : 8+n]
	r.b = append([]byte(nil), r.b[8+n:]...) // b stays with the message
	return parseMessage(b)
}

func parseMessage(b []byte) (m message, err error) {
	number := func() (v int64) {
		if len(b) < 8 {
			err = errMessage
			return 0
		}
		v, b = firstWord(b), b[8:]
		return v
	}
	for n := number(); n > 0 && err == nil; n-- {
		m.words = append(m.words, number())
	}
	n := number()
	if err != nil || n < 0 || n > int64(len(b)) {
		return m, errMessage
	}
	m.data, m.text = b[:n:n], string(b[n:])
	return m, nil
}

// next returns the first word, and takes it away; 0 if there is none.
func (m *message) next() (w int64) {
	if len(m.words) > 0 {
		w, m.words = m.words[0], m.words[1:]
	}
	return w
}

func word(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// addList adds the length of a list and the list, and list takes them away.
func (m *message) addList(list []int) {
	m.words = append(m.words, int64(len(list)))
	for _, x := range list {
		m.words = append(m.words, int64(x))
	}
}

func (m *message) list() (list []int) {
	for n := m.next(); n > 0 && len(m.words) > 0; n-- {
		list = append(list, int(m.next()))
	}
	return list
}

// Send sends the request to a guard.
func (r *Request) Send(to io.Writer) error {
	m := message{data: r.Data, text: r.Arch, words: []int64{int64(r.Op), int64(r.PID), int64(r.TID), int64(r.Note), int64(r.Addr), word(r.Alone), word(r.Step), int64(r.Signal), r.Timeout}}
	m.addList(r.TIDs)
	for _, note := range r.Notes {
		m.words = append(m.words, int64(note))
	}
	return m.send(to)
}

func receiveRequest(from *Reader) (Request, error) {
	m, err := from.receive()
	r := Request{Op: Op(m.next()), PID: int(m.next()), TID: int(m.next()), Note: uint32(m.next()), Addr: uint64(m.next()),
		Alone: m.next() != 0, Step: m.next() != 0, Signal: int(m.next()), Timeout: m.next(), Data: m.data, Arch: m.text}
	r.TIDs = m.list()
	for len(m.words) > 0 {
		r.Notes = append(r.Notes, uint32(m.next()))
	}
	return r, err
}

func (a *Reply) send(to io.Writer) error {
	e, s := &a.Event, &a.Event.Signal
	m := message{data: a.Data, text: a.Err, words: []int64{int64(a.Errno), int64(a.N), int64(e.Kind), int64(e.TID), int64(e.Status),
		int64(s.Number), int64(s.Code), int64(s.Address), word(s.HasAddress), int64(s.Sender), word(s.Own)}}
	m.addList(a.TIDs)
	m.addList(a.Sizes)
	m.addList(a.Late)
	return m.send(to)
}

// ReceiveReply receives the guard's next answer.
func ReceiveReply(from *Reader) (*Reply, error) {
	m, err := from.receive()
	a := &Reply{Data: m.data, Err: m.text, Errno: syscall.Errno(m.next()), N: int(m.next())}
	e, s := &a.Event, &a.Event.Signal
	e.Kind, e.TID, e.Status = EventKind(m.next()), int(m.next()), int(m.next())
	s.Number, s.Code, s.Address, s.HasAddress = int(m.next()), int(m.next()), uint64(m.next()), m.next() != 0
	s.Sender, s.Own = int(m.next()), m.next() != 0
	a.TIDs, a.Sizes, a.Late = m.list(), m.list(), m.list()
	return a, err
}
