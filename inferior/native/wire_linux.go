package native

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/sfwalk/sfwalk/inferior"
)

// op is what the owner asks the guard for.
type op uint8

const (
	opAttach op = iota
	opGet
	opSet
	opSave
	opRestore
	opDrop
	opWrite
	opInsert
	opRemove
	opResume // has no reply: opWait's says what was wrong
	opWait
	opInterrupt // has no reply of its own: it ends a wait
	opDetach
)

// request is a message to the guard.
type request struct {
	Op      op
	PID     int
	TIDs    []int
	TID     int
	Note    uint32   // of opSet
	Notes   []uint32 // of opGet
	Data    []byte
	Addr    uint64
	Alone   bool
	Step    bool
	Signal  int
	Timeout int64 // of opAttach, nanoseconds
}

// reply is the guard's answer.
type reply struct {
	Errno syscall.Errno
	Err   string // if Errno is 0
	Data  []byte
	N     int
	TIDs  []int // the threads that are held
	Sizes []int // of opGet, bytes of Data: those of each set
	Event event
}

// event is an [inferior.Event] without the thread.
type event struct {
	Kind   inferior.EventKind
	TID    int
	Status int
	Signal inferior.Signal
}

// message is what goes over the socket: a request or a reply. A codec that knows more would take longer to begin than
// most calls take.
type message struct {
	words []int64
	data  []byte
	text  string
}

// maxMessage bounds a message, bytes.
const maxMessage = 1 << 22

// send writes a message: its length in 4 bytes, and then the number of words and the words, the lengths of data and
// text and these, with numbers as [binary.AppendVarint] writes them.
func (m *message) send(to io.Writer) error {
	b := make([]byte, 4, 64+10*len(m.words)+len(m.data)+len(m.text))
	b = binary.AppendVarint(b, int64(len(m.words)))
	for _, w := range m.words {
		b = binary.AppendVarint(b, w)
	}
	b = append(binary.AppendVarint(b, int64(len(m.data))), m.data...)
	b = append(binary.AppendVarint(b, int64(len(m.text))), m.text...)
	if len(b)-4 > maxMessage {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	binary.NativeEndian.PutUint32(b, uint32(len(b)-4))
	_, err := to.Write(b)
	return err
}

var errMessage = errors.New("a message that is none")

// receive reads a message.
func receive(from *bufio.Reader) (m message, err error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return m, err
	}
	n := binary.NativeEndian.Uint32(size[:])
	if n > maxMessage {
		return m, errMessage
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(from, b); err != nil {
		return m, err
	}
	return parseMessage(b)
}

func parseMessage(b []byte) (m message, err error) {
	number := func() (v int64) {
		v, n := binary.Varint(b)
		if n <= 0 {
			err = errMessage
			return 0
		}
		b = b[n:]
		return v
	}
	part := func() (p []byte) {
		n := number()
		if n < 0 || n > int64(len(b)) {
			err = errMessage
			return nil
		}
		p, b = b[:n:n], b[n:]
		return p
	}
	for n := number(); n > 0 && err == nil; n-- {
		m.words = append(m.words, number())
	}
	m.data = part()
	m.text = string(part())
	return m, err
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

func (r *request) send(to io.Writer) error {
	m := message{data: r.Data, words: []int64{int64(r.Op), int64(r.PID), int64(r.TID), int64(r.Note), int64(r.Addr), word(r.Alone), word(r.Step), int64(r.Signal), r.Timeout}}
	m.addList(r.TIDs)
	for _, note := range r.Notes {
		m.words = append(m.words, int64(note))
	}
	return m.send(to)
}

func receiveRequest(from *bufio.Reader) (request, error) {
	m, err := receive(from)
	r := request{Op: op(m.next()), PID: int(m.next()), TID: int(m.next()), Note: uint32(m.next()), Addr: uint64(m.next()),
		Alone: m.next() != 0, Step: m.next() != 0, Signal: int(m.next()), Timeout: m.next(), Data: m.data}
	r.TIDs = m.list()
	for len(m.words) > 0 {
		r.Notes = append(r.Notes, uint32(m.next()))
	}
	return r, err
}

func (a *reply) send(to io.Writer) error {
	e, s := &a.Event, &a.Event.Signal
	m := message{data: a.Data, text: a.Err, words: []int64{int64(a.Errno), int64(a.N), int64(e.Kind), int64(e.TID), int64(e.Status),
		int64(s.Number), int64(s.Code), int64(s.Address), word(s.HasAddress), int64(s.Sender), word(s.Own)}}
	m.addList(a.TIDs)
	m.addList(a.Sizes)
	return m.send(to)
}

func receiveReply(from *bufio.Reader) (*reply, error) {
	m, err := receive(from)
	a := &reply{Data: m.data, Err: m.text, Errno: syscall.Errno(m.next()), N: int(m.next())}
	e, s := &a.Event, &a.Event.Signal
	e.Kind, e.TID, e.Status = inferior.EventKind(m.next()), int(m.next()), int(m.next())
	s.Number, s.Code, s.Address, s.HasAddress = int(m.next()), int(m.next()), uint64(m.next()), m.next() != 0
	s.Sender, s.Own = int(m.next()), m.next() != 0
	a.TIDs, a.Sizes = m.list(), m.list()
	return a, err
}
