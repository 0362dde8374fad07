package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/internal/count"
)

// showTasks prints the tasks of languages in a process.
func showTasks(cmd *cobra.Command, s report.Source, flags *report.Flags) error {
	doc, err := report.TasksOf(s, flags)
	if err != nil {
		return err
	}
	out, end, err := flags.Sum.Open(cmd)
	if err != nil {
		return err
	}
	if flags.JSON {
		p := newJSONPrinter()
		p.Out = out
		about := *doc
		about.Tasks, about.Warnings = nil, nil
		p.value(&about, len("}"))
		p.Own(`,"tasks":[`)
		appendElements(p, doc.Tasks)
		p.Own("]")
		appendList(p, "warnings", doc.Warnings)
		p.Own("}\n")
		err = end(p.FlushTo(out))
	} else {
		p := newTextPrinter(out, flags)
		p.Out = out
		p.Heading(doc)
		p.tasks(newTaskTree(doc.Tasks))
		err = end(p.FlushTo(out))
	}
	if err != nil {
		return err
	}
	flags.Warn(cmd, doc.Warnings)
	if slices.ContainsFunc(doc.Tasks, func(t report.Task) bool { return t.Error != "" }) {
		return exit.ErrEarly
	}
	return nil
}

// taskTree are tasks, and which of them wait for which.
type taskTree struct {
	tasks   []report.Task
	awaited [][]int // the tasks for which each one waits, by index
	roots   []int   // for which no other task waits

	stacks map[string]int            // the numbers of stacks, by their texts
	shared map[*report.TaskFrame]int // the same by their first frames
}

// newTaskTree lays tasks out. A task for which several wait is below each of them.
func newTaskTree(tasks []report.Task) *taskTree {
	type key struct {
		runtime int
		id      uint64
	}
	t, at := &taskTree{tasks: tasks, awaited: make([][]int, len(tasks)), stacks: map[string]int{}, shared: map[*report.TaskFrame]int{}}, make(map[key]int, len(tasks))
	for i := range tasks {
		at[key{tasks[i].Runtime, tasks[i].ID.V}] = i
	}
	for i := range tasks {
		root := true
		for _, id := range tasks[i].AwaitedBy {
			if by, ok := at[key{tasks[i].Runtime, id.V}]; ok {
				t.awaited[by], root = append(t.awaited[by], i), false
			}
		}
		if root {
			t.roots = append(t.roots, i)
		}
	}
	return t
}

// tasks prints each task below the one that waits for it. Equal ones are printed once.
func (p *textPrinter) tasks(t *taskTree) {
	p.styled(bold, count.Of(len(t.tasks), "task"))
	p.Byte('\n')
	printed := make([]bool, len(t.tasks))
	p.taskGroups(t, t.roots, 0, printed, map[int]bool{})
	for i := range t.tasks { // tasks that wait for each other are below none
		if !printed[i] {
			p.taskGroups(t, []int{i}, 0, printed, map[int]bool{})
		}
	}
}

// mostTaskDepth bounds how deep the tree is printed.
const mostTaskDepth = 64

// taskGroups prints tasks that stand below one other, which path leads to.
func (p *textPrinter) taskGroups(t *taskTree, list []int, depth int, printed []bool, path map[int]bool) {
	groups, order := map[equalTask][]int{}, []equalTask{}
	for _, i := range list {
		key := equalTask{alone: i + 1}
		if len(t.awaited[i]) == 0 {
			key = t.equal(&t.tasks[i])
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	for _, key := range order {
		group := groups[key]
		first := group[0]
		indent := strings.Repeat("  ", depth)
		p.MakeRoom()
		p.Byte('\n')
		p.Own(indent)
		p.taskHeading(t, group)
		switch {
		case path[first]:
			p.Own(indent)
			p.styled(red, "(it waits for itself: a deadlock)")
			p.Byte('\n')
			continue
		case printed[first]:
			p.Own(indent)
			p.styled(faint, "(see above)")
			p.Byte('\n')
			continue
		case depth == mostTaskDepth:
			p.Own(indent)
			p.styled(faint, "(more tasks follow)")
			p.Byte('\n')
			continue
		}
		for _, i := range group {
			printed[i] = true
		}
		for _, line := range waitsOf(&t.tasks[first]) {
			p.Own(indent + "  ")
			p.Text(line)
			p.Byte('\n')
		}
		if links := t.tasks[first].Links; len(links) > 0 && len(group) == 1 {
			p.Own(indent + "  ")
			p.Text("linked to " + strings.Join(links, ", "))
			p.Byte('\n')
		}
		p.taskFrames(&t.tasks[first], indent)
		if len(t.awaited[first]) > 0 {
			path[first] = true
			p.taskGroups(t, t.awaited[first], depth+1, printed, path)
			delete(path, first)
		}
	}
}

// equalTask is the same for tasks that are printed once.
type equalTask struct {
	runtime, tid       int
	kind, state, wrong string
	waits              string
	stack              int // a number for equal frames
	alone              int // of a task that is printed by itself, its index and 1
}

func (t *taskTree) equal(x *report.Task) equalTask {
	return equalTask{runtime: x.Runtime, tid: x.TID, kind: x.Kind, state: x.State, wrong: x.Error, waits: strings.Join(waitsOf(x), "\n"), stack: t.stack(x.Frames)}
}

// waitsOf returns what a task waits for, beside other tasks, in lines.
func waitsOf(t *report.Task) []string { return (&waits.Told{Waits: t.Waits}).Lines(false) }

// stack returns the number of frames. Thousands of tasks may share theirs.
func (t *taskTree) stack(frames []report.TaskFrame) int {
	if len(frames) == 0 {
		return 0
	}
	if n := t.shared[&frames[0]]; n != 0 {
		return n
	}
	var b strings.Builder
	for i := range frames {
		f := &frames[i]
		fmt.Fprintf(&b, "\n%s\x00%s\x00%d:%d", f.Function, f.File, f.Line, f.Column)
	}
	n := t.stacks[b.String()]
	if n == 0 {
		n = len(t.stacks) + 1
		t.stacks[b.String()] = n
	}
	t.shared[&frames[0]] = n
	return n
}

// taskHeading prints `asyncio task "main" [waiting] on thread 4242`.
func (p *textPrinter) taskHeading(t *taskTree, group []int) {
	first := &t.tasks[group[0]]
	if len(group) == 1 {
		p.styled(bold, first.Kind+" "+taskName(first))
	} else {
		p.styled(bold, count.Of(len(group), first.Kind)+" ")
		for n, i := range group[:min(namedThreads, len(group))] {
			if n > 0 {
				p.Text(", ")
			}
			p.Text(taskName(&t.tasks[i]))
		}
		if more := len(group) - namedThreads; more > 0 {
			p.Text(fmt.Sprintf(" and %d more", more))
		}
	}
	if first.State != "" {
		p.styled(bold, " ["+first.State+"]")
	}
	if first.TID != 0 {
		p.Text(fmt.Sprintf(" on thread %d", first.TID))
	}
	p.Byte('\n')
}

// taskName returns a task's number and its name in quotes, or what else tells it from others.
func taskName(t *report.Task) string {
	switch {
	case t.Number != 0 && t.Name != "":
		return fmt.Sprintf("#%d %q", t.Number, t.Name)
	case t.Number != 0:
		return fmt.Sprintf("#%d", t.Number)
	case t.Name == "":
		return fmt.Sprintf("%#x", t.ID.V)
	}
	return strconv.Quote(t.Name)
}

func (p *textPrinter) taskFrames(t *report.Task, indent string) {
	for i := range t.Frames {
		p.MakeRoom()
		f := &t.Frames[i]
		p.Own(indent)
		p.level(f.Level)
		p.languageFrame(&report.Frame{Function: f.Function, File: f.File, Line: f.Line, Column: f.Column, Language: t.Language})
		p.Byte('\n')
	}
	if len(t.Frames) == 0 && t.TID != 0 && t.Error == "" {
		p.Own(indent)
		p.styled(faint, fmt.Sprintf("(it runs: its frames are on the stack of thread %d)", t.TID))
		p.Byte('\n')
	}
	if t.Error != "" {
		p.Own(indent)
		p.styled(red, "stop: "+t.Error)
		p.Byte('\n')
	}
}
