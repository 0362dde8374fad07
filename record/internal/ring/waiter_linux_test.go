package ring

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A wait ends when a file becomes readable, or when there is no need to wait; else with its time.
func TestWaiter(t *testing.T) {
	w, err := newWaiter()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	if err := w.add(pipe[0]); err != nil {
		t.Fatal(err)
	}
	never := func() bool { return false }
	if err := w.wait(time.Millisecond, never); err != nil {
		t.Error(err)
	}
	readable := func() bool {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(pipe[0]), Events: unix.POLLIN}}, 0)
		return n > 0
	}
	for range 3 {
		go unix.Write(pipe[1], []byte{1})
		if err := w.wait(time.Hour, readable); err != nil {
			t.Error(err)
		}
		if n, err := unix.Read(pipe[0], make([]byte, 1)); n != 1 {
			t.Errorf("the wait has ended before the file is readable: %v", err)
		}
	}
	if err := w.wait(time.Hour, func() bool { return true }); err != nil {
		t.Error(err)
	}
	if err := w.add(-1); err == nil {
		t.Error("there is no such file, and no error")
	}
}
