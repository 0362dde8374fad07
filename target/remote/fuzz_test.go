package remote

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/bounds"
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
			tg, err := connect(context.Background(), canned{bytes.NewReader(data)}, Options{Timeout: time.Minute})
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
			tg.Close()
		})
	})
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
			}
		})
	})
}
