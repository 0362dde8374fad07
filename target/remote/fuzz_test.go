package remote

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzDial connects to a stub that sends any bytes, whatever it is asked.
func FuzzDial(f *testing.F) {
	var talk []byte
	for _, answer := range []string{
		"PacketSize=1000;qXfer:features:read+;qXfer:auxv:read+;vContSupported+;multiprocess+", "T05thread:p01.7069;", "1",
		"mp01.7069", "l", `l<target><architecture>s390:64-bit</architecture><reg name="pswm" bitsize="64"/><reg name="pswa" bitsize="64"/></target>`,
		"l", "F-1", "1", "F5", "F3;abc", "F0;", "OK", "0011223344556677", "E01", "OK",
	} {
		talk = append(append(talk, '+'), frame(answer)...)
	}
	f.Add(talk)
	f.Add([]byte("+$PacketSize=400;QStartNoAckMode+#00-+$OK#9a"))
	f.Add([]byte("+$#00+$T0*\"#00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 4<<20+1024*len(data), func() {
			tg, err := connect(context.Background(), canned{bytes.NewReader(data)}, "", Options{Timeout: time.Minute})
			if err != nil {
				return
			}
			threads, _ := tg.Threads()
			var r arch.Registers
			threads[0].Registers(&r)
			var p [64]byte
			tg.Memory().ReadMemory(0x1000, p[:])
			tg.Modules().IsCode(0x2000)
			tg.Step(context.Background(), threads[0].(*Thread))
			control(tg, threads[0].(*Thread))
			tg.Close()
		})
	})
}

// control does everything that changes a target.
func control(tg *Target, th *Thread) {
	a := tg.Arch()
	if state, err := th.State(); err == nil {
		th.SetState(state)
		state.Equal(state)
	}
	var p [16]byte
	for _, r := range append(a.WideRegs()[:1:1], a.WideRegs()[len(a.WideRegs())-1]) {
		th.ReadRegister(r.Num, 0, p[:])
		th.WriteRegister(r.Num, 8, p[:8])
	}
	th.WriteRegister(a.PC, 0, p[:8])
	th.ForgetSystemCall()
	tg.memory.WriteMemory(0x1ff8, p[:])
	tg.EntryPoint()
	tg.KeepSignals()
	tg.InsertBreakpoint(th, 0x1000, 4)
	for range 3 {
		tg.Run(Action{Thread: th, Step: true, Signal: 34}, Action{})
		stop, err := tg.Await(context.Background())
		if err != nil {
			break
		}
		tg.LetChildGo(stop, []uint64{0x1000}, 4)
		tg.SignalInfo()
		tg.ListThreads()
	}
	tg.RemoveBreakpoint(th, 0x1000, 4)
	tg.ReadFile("/proc/1/status", 1<<12)
	tg.Resync()
}

func FuzzPacket(f *testing.F) {
	f.Add([]byte("+$T05thread:p2a.2b;#aa"), false)
	f.Add([]byte("%Stop:T05#00$0* }]#d1"), true)
	f.Fuzz(func(t *testing.T, data []byte, noAck bool) {
		bounds.Hold(t, 1<<20+1024*len(data), func() {
			l := newLink(context.Background(), canned{bytes.NewReader(data)}, time.Minute)
			l.noAck = noAck
			for {
				reply, err := l.within(time.Minute, l.receive)
				if err != nil {
					return
				}
				if len(reply) > maxReply {
					t.Fatalf("%d bytes", len(reply))
				}
				parseStop(reply)
				parseReply(reply)
			}
		})
	})
}
