// A program in Go that works without end: maps, interfaces, closures, channels, the library.
package main

import (
	"bytes"
	"compress/flate"
	"container/heap"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"
)

type shape interface{ Area() float64 }

type rectangle struct{ Width, Height float64 }

type circle struct {
	Radius float64
	Tags   map[string]int `json:"tags,omitempty"`
}

func (r rectangle) Area() float64 { return r.Width * r.Height }
func (c *circle) Area() float64   { return 3.14159 * c.Radius * c.Radius }

type job struct {
	ID    int
	Name  string
	Due   time.Duration
	Inner any
	Next  *job
}

type queue []*job

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].Due < q[j].Due || q[i].Due == q[j].Due && q[i].Name < q[j].Name
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*job)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

var pattern = regexp.MustCompile(`(?i)(job|task)[ -](\d+)(?:\.(\w+))*$`)

var page = template.Must(template.New("page").Parse(`{{range .}}{{if .Next}}{{.Name}} before {{.Next.Name}}{{else}}last {{.ID}}{{end}}; {{end}}`))

//go:noinline
func descend[K comparable](depth int, seen map[K]int, key func(int) K, visit func(int, shape) error) (total float64, err error) {
	if depth == 0 {
		return 0, nil
	}
	seen[key(depth)]++
	var s shape = rectangle{float64(depth), 2}
	if depth%2 == 0 {
		s = &circle{Radius: float64(depth), Tags: map[string]int{"depth": depth}}
	}
	defer func() {
		if e := visit(depth, s); e != nil && err == nil {
			err = fmt.Errorf("depth %d: %w", depth, e)
		}
	}()
	more, err := descend(depth-1, seen, key, visit)
	return more + s.Area(), err
}

func work(round int) (string, error) {
	var q queue
	var last *job
	for i := range 60 {
		last = &job{ID: i, Name: fmt.Sprintf("job-%d.part%d", i*round%37, i), Due: time.Duration(i*7919%100) * time.Millisecond, Inner: rectangle{1, float64(i)}, Next: last}
		heap.Push(&q, last)
	}
	var names []string
	for q.Len() > 0 {
		j := heap.Pop(&q).(*job)
		if m := pattern.FindStringSubmatch(j.Name); m != nil {
			names = append(names, strings.Join(m[1:], "/"))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	seen := map[string]int{}
	total, err := descend(20+round%20, seen, func(n int) string { return names[n%len(names)] }, func(depth int, s shape) error {
		if s.Area() < 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(map[string]any{"seen": seen, "names": names, "total": total, "shapes": []shape{rectangle{1, 2}, &circle{Radius: 3}}}, "", "\t")
	if err != nil {
		return "", err
	}
	var back map[string]any
	if err := json.Unmarshal(text, &back); err != nil {
		return "", err
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if err := page.Execute(w, q[:cap(q)][:0:0]); err != nil {
		return "", err
	}
	w.Write(bytes.Repeat(text, 3))
	w.Close()
	digits := new(big.Int).Exp(big.NewInt(int64(round+3)), big.NewInt(300), nil).String()
	return fmt.Sprintf("%d bytes, %s", packed.Len(), digits[:10]), nil
}

func main() {
	results := make(chan string, 4)
	var wait sync.WaitGroup
	for n := range 2 {
		wait.Go(func() {
			for round := n; ; round++ {
				text, err := work(round)
				if err != nil {
					panic(err)
				}
				results <- text
			}
		})
	}
	longest := 0
	for text := range results {
		longest = max(longest, len(text))
	}
	wait.Wait()
}
