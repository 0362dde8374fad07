package remote

import (
	"context"
	"errors"
	"fmt"
)

// Step lets one thread run one instruction. The others stand still if the stub can do that. Memory
// and registers that were read before are forgotten; the modules are taken to be the same.
func (t *Target) Step(ctx context.Context, th *Thread) error {
	packet := "vCont;s:" + th.id.text
	if !t.s.features["vContSupported"] {
		if err := t.s.selectToStep(th.id.text); err != nil {
			return fmt.Errorf("step thread %d: %w", th.ID(), err)
		}
		packet = "s"
	}
	if err := t.resume(ctx, packet); err != nil {
		return fmt.Errorf("step thread %d: %w", th.ID(), err)
	}
	return nil
}

// Continue lets the target run until it stops again, or ctx ends.
func (t *Target) Continue(ctx context.Context) error {
	if err := t.resume(ctx, "c"); err != nil {
		return fmt.Errorf("continue: %w", err)
	}
	return nil
}

// RunTo lets the target run until it comes to the instruction at pc, or stops earlier for another
// reason. kind is the kind of breakpoint in the protocol: mostly the size of an instruction, bytes.
// RunTo removes the breakpoint again.
func (t *Target) RunTo(ctx context.Context, pc uint64, kind int) error {
	point := fmt.Sprintf("0,%x,%x", pc, kind)
	if err := t.s.askOK("Z" + point); err != nil {
		return fmt.Errorf("run to %#x: set a breakpoint: %w", pc, err)
	}
	err := t.resume(ctx, "c")
	if gone := t.s.askOK("z" + point); err == nil {
		err = gone
	}
	if err != nil {
		return fmt.Errorf("run to %#x: %w", pc, err)
	}
	return nil
}

// askOK sends a packet, and fails unless the answer is OK.
func (s *session) askOK(packet string) error {
	reply, err := s.exchange(packet)
	if err == nil && string(reply) != "OK" {
		err = fmt.Errorf("the stub answers %q to %s", short(reply), packet)
	}
	return err
}

// selectToStep selects the thread that s steps.
func (s *session) selectToStep(thread string) error {
	reply, err := s.exchange("Hc" + thread)
	if err == nil && string(reply) != "OK" {
		err = fmt.Errorf("the stub does not know the thread: it answers %q to Hc", short(reply))
	}
	return err
}

// forget forgets what was read, because the target has run. t.mu is held.
func (t *Target) forget() {
	clear(t.regs)
	for _, th := range t.threads {
		th.general = nil
	}
	t.memory.forget(t.threads)
}

// resume sends a packet that lets the target run, and waits for it to stop.
func (t *Target) resume(ctx context.Context, packet string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	l := t.s.link
	outer := l.ctx
	l.ctx = ctx
	defer func() { l.ctx = outer }()
	text, err := l.exchangeOnce([]byte(packet), l.timeout)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return errors.New("the stub cannot do that")
	}
	stopped, err := parseStop(text)
	if err != nil {
		return err
	}
	t.s.thread = "" // stubs make the stopped thread the current one
	t.StopSignal, t.StopName = t.s.linuxSignal(stopped.signal)
	for _, th := range t.threads {
		th.Current = stopped.known && th.id.tid == stopped.thread.tid
	}
	return nil
}
