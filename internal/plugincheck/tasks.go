package plugincheck

import (
	"fmt"
	"reflect"
	"time"

	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// fixTasks says what to fix where a plug-in lists tasks.
const fixTasks = "a task's ID is the address of its object, which no other task has; awaited_by has IDs of the list"

// listsNone is said of a plug-in that lists no tasks.
const listsNone = "it lists no tasks"

// tasks has the host list the tasks of every process, twice, and of a process whose memory cannot
// be read.
func (c *checker) tasks() finding {
	if !c.description.GetDecorates().GetTasks() || c.decorating == nil {
		return skip(listsNone)
	}
	d := c.decorating
	tasks, slowest, slowestAt := 0, time.Duration(0), "none"
	for _, s := range c.subjects {
		runtimes, err := d.find(s, s.Memory())
		if fault := d.Err(); fault != nil {
			return fail(fixHost, "%v", fault)
		}
		if err != nil {
			continue // the check of stacks has said so
		}
		for _, r := range runtimes {
			t, ok := r.Runtime.(language.Tasker)
			if !ok {
				continue
			}
			begin := time.Now()
			list, err := t.Tasks(s.Memory())
			if took := time.Since(begin); took > slowest {
				slowest, slowestAt = took, s.name
			}
			if fault := d.Err(); fault != nil {
				return fail(fixHost, "%s: %v", s.name, fault)
			}
			if err != nil && s.partly {
				continue
			}
			if err != nil {
				return warn("list all tasks of the processes that can be read", "%s: %v", s.name, err)
			}
			if what := wrongTasks(list); what != "" {
				return fail(fixTasks, "%s: %s", s.name, what)
			}
			again, err := t.Tasks(s.Memory())
			if fault := d.Err(); fault != nil {
				return fail(fixHost, "%s: %v", s.name, fault)
			}
			if err != nil || !reflect.DeepEqual(again, list) {
				return fail(fixSame, "%s: two lists of the same tasks", s.name)
			}
			t.Tasks(new(nowhere)) // what it finds there does not matter
			if fault := d.Err(); fault != nil {
				return fail(fixDies, "%s, whose memory cannot be read: %v", s.name, fault)
			}
			tasks += len(list)
		}
	}
	what := fmt.Sprintf("%s, the slowest list of which took %v (%s)", count.Of(tasks, "task"), slowest.Round(time.Microsecond), slowestAt)
	switch limit := external.TasksPatience * deadline; {
	case slowest > limit:
		return fail(fixQuick, "%s: the host waits for %v", what, limit)
	case tasks > 0:
		return pass("%s", what)
	}
	f := skip("it knows no tasks of the processes that were given: its list is not tested")
	f.fix = "have gcore write a core file of a process whose tasks it knows, and check with --snapshot FILE: snapshots do not have the heap"
	return f
}

// wrongTasks says what is wrong with a list of tasks; "" for nothing.
func wrongTasks(list []language.Task) string {
	known := map[uint64]bool{}
	for i := range list {
		if known[list[i].ID] {
			return fmt.Sprintf("two tasks have the ID %#x", list[i].ID)
		}
		known[list[i].ID] = true
	}
	for i := range list {
		for _, id := range list[i].AwaitedBy {
			if !known[id] {
				return fmt.Sprintf("the task %#x is awaited by %#x, which is no task of the list", list[i].ID, id)
			}
		}
	}
	return ""
}
