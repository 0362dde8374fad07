package descriptors

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Bounds of what is looked at for the other ends of pipes: processes, and the links of all their
// descriptors.
const (
	mostRelated  = 64
	mostLinks    = 1024
	mostOfOne    = 512     // links of one process: it may have many more
	mostChildren = 1 << 20 // bytes of the list of the children of one thread
)

// held is a descriptor of a process.
type held struct {
	by Relative
	at place
}

// otherEnd finds who has the other end of a pipe, among all who have an end.
func (f *File) otherEnd(at place, all []held) {
	reads, writes, ok := at.access()
	if !ok || reads == writes {
		return
	}
	f.Reads = reads
	f.Ends = holdersAmong(all, func(h held) bool {
		theirs, other, ok := h.at.access()
		return ok && (reads && other || writes && theirs)
	})
}

// holdersAmong returns the processes with a descriptor that fits.
func holdersAmong(all []held, fits func(held) bool) (list []Relative) {
	for _, h := range all {
		if n := len(list); (n == 0 || list[n-1].PID != h.by.PID) && (fits == nil || fits(h)) {
			list = append(list, h.by)
		}
	}
	return list
}

// byLink returns the descriptors of the relatives by where they lead. Those of other users may be
// unreadable.
func (r *Reader) byLink() map[string][]held {
	if r.links != nil {
		return r.links
	}
	r.links = map[string][]held{}
	left := mostLinks
	for _, p := range r.relatives() {
		dir := "/proc/" + strconv.Itoa(p.PID) + "/fd/"
		if p.Own {
			dir = r.dir + "/fd/"
		}
		for _, name := range names(dir, min(left, mostOfOne)) {
			left--
			at := place{noFolder, dir + name}
			if p.Own && r.fds != noFolder {
				at = place{r.fds, name}
			}
			link, err := at.link()
			if err == nil && !strings.HasPrefix(link, "anon_inode:") {
				r.links[link] = append(r.links[link], held{p, at})
			}
		}
	}
	return r.links
}

// names returns the names in a folder, at most most of them.
func names(dir string, most int) []string {
	d, err := os.Open(dir)
	if err != nil || most <= 0 {
		return nil
	}
	defer d.Close()
	list, _ := d.Readdirnames(most)
	return list
}

// relatives returns the process itself, its children, its parent and that one's other children: a
// pipe of a shell's is between these.
func (r *Reader) relatives() []Relative {
	if r.related != nil {
		return r.related
	}
	r.related = []Relative{{PID: r.pid, Own: true}}
	seen := map[int]bool{r.pid: true}
	add := func(pid int) {
		if pid > 0 && !seen[pid] && len(r.related) < mostRelated {
			seen[pid] = true
			r.related = append(r.related, Relative{PID: pid, Name: comm(pid)})
		}
	}
	for _, c := range r.children().first {
		add(c.PID)
	}
	text, _ := readSome(r.dir+"/status", 16<<10)
	if parent, _ := strconv.Atoi(field(text, "PPid:")); parent > 1 {
		add(parent)
		for _, pid := range childrenOf("/proc/" + strconv.Itoa(parent)) {
			add(pid)
		}
	}
	return r.related
}

// family are the children of a process.
type family struct {
	first []Relative  // with their names, at most mostRelated
	all   int         // how many there are
	by    map[int]int // their IDs by the IDs that the process itself has for them
}

// Children returns the first children of the process, and how many there are.
func (r *Reader) Children() (first []Relative, all int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.children()
	return f.first, f.all
}

// Child returns the child for which the process itself, as in a container, has an ID. ok is false
// if that is not known.
func (r *Reader) Child(inner int) (child Relative, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, ok := r.children().by[inner]
	if !ok {
		return child, false
	}
	name := comm(pid)
	return Relative{PID: pid, Name: name}, name != ""
}

func (r *Reader) children() *family {
	if r.family != nil {
		return r.family
	}
	own, _ := readSome(r.dir+"/status", 16<<10)
	depth := len(strings.Fields(field(own, "NSpid:"))) // of its PID namespace in the reader's; 0 if the kernel does not say
	f := &family{by: map[int]int{}}
	r.family = f
	for _, pid := range childrenOf(r.dir) {
		if f.all++; len(f.first) == mostRelated {
			if depth <= 1 {
				f.by[pid] = pid
			}
			continue
		}
		text, err := readSome("/proc/"+strconv.Itoa(pid)+"/status", 16<<10)
		if err != nil { // it has ended
			f.all--
			continue
		}
		f.first = append(f.first, Relative{PID: pid, Name: field(text, "Name:")})
		inner := pid
		if ids := strings.Fields(field(text, "NSpid:")); depth > 0 && len(ids) >= depth {
			inner, _ = strconv.Atoi(ids[depth-1]) // it may be in a namespace of its own
		}
		f.by[inner] = pid
	}
	return f
}

// childrenOf returns the children that the threads of a process have made (proc_tid_children(5)).
func childrenOf(dir string) (list []int) {
	const mostThreads = 256
	tasks := openFolder(dir + "/task")
	if tasks == noFolder {
		return nil
	}
	defer tasks.close()
	for _, tid := range names(dir+"/task", mostThreads) {
		text := place{tasks, tid + "/children"}.read(mostChildren)
		text = text[:bytes.LastIndexByte(text, ' ')+1] // each ID ends with a space
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				list = append(list, pid)
			}
		}
	}
	return list
}
