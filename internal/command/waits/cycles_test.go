package waits

import (
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// TestCycles finds the cycles of graphs in which threads also wait for threads of a cycle, for
// threads that do not wait, for nobody, and for several.
func TestCycles(t *testing.T) {
	for _, tt := range []struct {
		graph [][2]int // thread, owner
		want  string
	}{
		{nil, "[]"},
		{[][2]int{{1, 2}, {2, 3}}, "[]"},
		{[][2]int{{1, 1}}, "[[1]]"},
		{[][2]int{{5, 3}, {3, 4}, {4, 3}, {6, 5}}, "[[3 4]]"},
		{[][2]int{{9, 7}, {8, 9}, {7, 8}, {2, 1}, {1, 2}, {3, 2}, {4, 9}}, "[[1 2] [7 8 9]]"},
		{[][2]int{{1, 3}, {1, 2}, {2, 1}}, "[[1 2]]"},
		{[][2]int{{1, 2}, {2, 3}, {2, 1}, {3, 2}}, "[[2 3] [1 2]]"},
		{[][2]int{{1, 2}, {1, 3}, {2, 4}, {3, 4}}, "[]"},
	} {
		const most = 10
		ids, edges := make([]int, most), make([][]edge, most)
		for i := range ids {
			ids[i] = i + 1
		}
		for _, e := range tt.graph {
			edges[e[0]-1] = append(edges[e[0]-1], edge{to: e[1] - 1})
		}
		got := [][]int{}
		for _, d := range cycles(ids, edges) {
			got = append(got, d.Threads)
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%v: %v, want %s", tt.graph, got, tt.want)
		}
	}
}

// FuzzCycles has any graph: a cycle is one, and there are cycles if a thread comes back to itself.
func FuzzCycles(f *testing.F) {
	f.Add([]byte{0x21, 0x12, 0x31})
	f.Add([]byte{0x12, 0x13, 0x24, 0x34})
	f.Fuzz(func(t *testing.T, graph []byte) {
		bounds.Hold(t, len(graph), func() {
			const n = 16
			ids, edges := make([]int, n), make([][]edge, n)
			var reaches [n][n]bool
			for i := range ids {
				ids[i] = 100 + i
			}
			for i, e := range graph {
				from, to := e>>4, e&15
				edges[from] = append(edges[from], edge{to: int(to), timed: i%2 == 0, text: fmt.Sprint(100 + to)})
				reaches[from][to] = true
			}
			has := false
			for k := range n {
				for i := range n {
					for j := range n {
						reaches[i][j] = reaches[i][j] || reaches[i][k] && reaches[k][j]
					}
				}
			}
			for i := range n {
				has = has || reaches[i][i]
			}
			list := cycles(ids, edges)
			if has != (len(list) > 0) {
				t.Fatalf("%x: %v", graph, list)
			}
			for _, d := range list {
				for i := range d.Threads {
					if next := d.Threads[(i+1)%len(d.Threads)]; d.Link(i) != fmt.Sprint(next) || d.Threads[i] < d.Threads[0] {
						t.Fatalf("%x: %v", graph, d)
					}
				}
			}
		})
	})
}
