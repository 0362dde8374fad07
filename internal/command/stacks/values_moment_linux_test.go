package stacks_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Values of a thread that runs are of the moment of its stack, also values that lie on the heap, on
// several pages. With --consistent, the values of all threads are of one moment. The program itself
// says which values may meet.
func TestValuesOfOneMoment(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "counting.c", "-g", "-O1"))
	rounds := busyAttaches() / 4
	for _, consistent := range []bool{false, true} {
		args := []string{"attach", strconv.Itoa(p.PID), "--json", "--frame", "count", "--print", "n", "--print", "own->first", "--print", "own->last", "--print", "*all"}
		if consistent {
			args = append(args, "--consistent")
		}
		seen, moved, before := 0, 0, int64(0)
		for range rounds {
			out, _, err := commandtest.Run(args...)
			var doc struct {
				Threads []struct {
					Frames []struct {
						Print []struct {
							Value string
							Moved bool `json:"moved_on"`
						}
					}
				}
			}
			if err != nil || json.Unmarshal([]byte(out), &doc) != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			ticks := int64(-1)
			for _, th := range doc.Threads {
				for _, f := range th.Frames {
					var v [4]int64
					for i, x := range f.Print {
						if x.Moved {
							t.Fatalf("consistent %v: a value is of another moment\n%s", consistent, out)
						}
						if v[i], err = strconv.ParseInt(x.Value, 10, 64); err != nil {
							t.Fatalf("%v\n%s", err, out)
						}
					}
					n, first, last, all := v[0], v[1], v[2], v[3]
					if first > n || first < n-1 || last > first || last < n-1 {
						t.Errorf("consistent %v: n is %d, first %d, last %d", consistent, n, first, last)
					}
					if consistent && ticks >= 0 && all != ticks {
						t.Errorf("one thread has seen %d ticks, another %d", ticks, all)
					}
					ticks = all
					seen++
				}
			}
			if ticks != before {
				moved++
			}
			before = ticks
		}
		if moved < 2 { // on a busy machine, it need not have run between any two rounds
			t.Error("the program does not run")
		}
		if seen != 2*rounds {
			t.Errorf("consistent %v: %d frames of the threads that count, want %d", consistent, seen, 2*rounds)
		}
	}
}
