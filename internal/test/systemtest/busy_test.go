//go:build linux && system

package systemtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// attaches is how often the command attaches to a busy process, one attach after the other; most of
// the stacks must be whole.
const attaches = 200

// undisturbed lets sfwalk attach to a busy process, and kills it at any moment between its start
// and its end: the process is not disturbed. The tests of target/live do the same without a command
// for each attach.
func (g *Guest) undisturbed(t *testing.T) {
	s := g.subjects(t)[0]
	busy := s.path + "busy"
	if err := os.Rename(s.path, busy); err != nil {
		t.Fatal(err)
	}
	s.path = busy
	g.start(t, s)
	attach := func(n int) (whole int) {
		t.Helper()
		out := g.Shell(t, 3*patience, fmt.Sprintf(`
			whole=0; early=0; rm -f early
			for i in $(seq %d); do
				how=; [ $((i%%2)) = 0 ] || how=--consistent
				/bin/sfwalk attach --no-lines $how %s > out 2> err
				case $? in 0) whole=$((whole+1));; 3) early=$((early+1)); cp out early;; *) cat err; exit 1;; esac
			done
			echo $whole whole, $early early; [ ! -e early ] || grep -B3 "stop:" early | head -n 20`, n, s.pid))
		t.Log(strings.TrimSpace(out))
		if _, err := fmt.Sscanf(out, "%d whole", &whole); err != nil {
			t.Fatal(err)
		}
		return whole
	}
	// The process answers when its busy threads have made progress.
	answers := 0
	running := func() {
		t.Helper()
		answers++
		state := g.Shell(t, patience, fmt.Sprintf(`
			echo -n "?" > %[1]s.in; until [ $(grep -c failed %[1]s.out) = %[2]d ] || [ ! -d /proc/%[3]s/task ]; do sleep 0.1; done
			cat %[1]s.out; grep -hE '^(State|TracerPid)' /proc/%[3]s/task/*/status`, s.path, answers, s.pid))
		if regexp.MustCompile(`TracerPid:\s+[1-9]|State:\s+[tTZ]`).MatchString(state) || strings.Count(state, "0 failed") != answers {
			t.Fatalf("the process was disturbed:\n%s", state)
		}
	}
	running()
	if whole := attach(attaches); whole < attaches*95/100 {
		t.Errorf("%d of %d attaches found all stacks whole", whole, attaches)
	}
	running()
	// An attach takes TIME, in hundredths of a second: it is killed after a tenth of that, two, …;
	// and each time in between when it is seen to hold a thread.
	t.Logf("killed while threads were held: %s", g.Shell(t, 3*patience, fmt.Sprintf(`
		held() { grep -q "^TracerPid:.[1-9]" /proc/%[1]s/task/*/status; }
		now() { sed 's/ .*//; s/\.//' /proc/uptime; }
		begin=$(now); /bin/sfwalk attach --consistent %[1]s > out 2>&1; time=$(($(now)-begin))
		held=0
		for i in $(seq 20); do
			/bin/sfwalk attach --consistent %[1]s > out 2>&1 & k=$!
			if [ $((i%%2)) = 0 ]; then
				ms=$((time*i/2)); sleep $((ms/1000)).$(printf %%03d $((ms%%1000)))
			else
				until held || ! grep -q "^State:.[^Z]" /proc/$k/status; do :; done # or it has ended
			fi
			kill -STOP $k; ! held || held=$((held+1))
			kill -9 $k; wait $k
		done 2>/dev/null
		echo $held of 20, an attach takes ${time}0 ms`, s.pid)))
	running()
	if attach(2) != 2 {
		t.Error("after that, not all stacks are whole")
	}
}
