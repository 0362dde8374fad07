package waitfor

import (
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// TestCycles finds the cycles of graphs in which threads also wait for threads of a cycle, for
// threads that do not wait, and for nobody.
func TestCycles(t *testing.T) {
	for _, tt := range []struct {
		graph [][2]int // thread, owner
		want  string
	}{
		{nil, "[]"},
		{[][2]int{{1, 2}, {2, 3}, {4, 0}}, "[]"},
		{[][2]int{{1, 1}}, "[[1]]"},
		{[][2]int{{5, 3}, {3, 4}, {4, 3}, {6, 5}}, "[[3 4]]"},
		{[][2]int{{9, 7}, {8, 9}, {7, 8}, {2, 1}, {1, 2}, {3, 2}, {4, 9}}, "[[7 8 9] [1 2]]"},
	} {
		var list []Wait
		for _, e := range tt.graph {
			list = append(list, Wait{Thread: e[0], Owner: e[1]})
		}
		got := [][]int{}
		for _, c := range Cycles(list) {
			var ids []int
			for i := range c {
				ids = append(ids, c[i].Thread)
				if c[i].Owner != c[(i+1)%len(c)].Thread {
					t.Errorf("%v: thread %d waits for %d", tt.graph, c[i].Thread, c[i].Owner)
				}
			}
			got = append(got, ids)
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%v: %v, want %s", tt.graph, got, tt.want)
		}
	}
}

// FuzzCycles has any graph: a cycle is one, and no thread is in two.
func FuzzCycles(f *testing.F) {
	f.Add([]byte{2, 1, 3})
	f.Fuzz(func(t *testing.T, owners []byte) {
		bounds.Hold(t, len(owners), func() {
			var list []Wait
			for i, o := range owners {
				list = append(list, Wait{Thread: i + 1, Owner: int(o)})
			}
			in := map[int]bool{}
			for _, c := range Cycles(list) {
				for i := range c {
					if in[c[i].Thread] || c[i].Owner != c[(i+1)%len(c)].Thread {
						t.Fatalf("%v: %v", owners, c)
					}
					in[c[i].Thread] = true
				}
			}
		})
	})
}
