package remote

import "errors"

// X87Top returns the number, 0 to 7, of the x87's register that is the top of its stack. Stubs may
// number the registers from that one on.
func (t *Thread) X87Top() (int, error) {
	t.t.mu.Lock()
	defer t.t.mu.Unlock()
	status := t.t.layout.named(t.t.arch.GDB().X87Status)
	if status == nil {
		return 0, errors.New("the stub does not tell the x87's status")
	}
	b, err := t.t.readSlot(t, *status)
	return int(number(t.t.arch, b) >> 11 & 7), err
}
