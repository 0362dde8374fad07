package descriptors

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/count"
)

// Kind is what a descriptor leads to.
type Kind string

// The kinds. Other is what has no name here, such as a BPF map: Link has the kernel's word for it.
const (
	Regular  Kind = "file" // a file, folder or device that has a path
	Terminal Kind = "terminal"
	Socket   Kind = "socket"
	Pipe     Kind = "pipe" // with a path: a FIFO
	Epoll    Kind = "epoll"
	Event    Kind = "eventfd"
	Timer    Kind = "timerfd"
	Signal   Kind = "signalfd"
	Inotify  Kind = "inotify"
	Process  Kind = "pidfd"
	Ring     Kind = "io_uring"
	Other    Kind = "other"
)

// File is what one descriptor leads to. In JSON it is an object of the fields that are known.
type File struct {
	FD   int  `json:"fd"`
	Kind Kind `json:"kind,omitempty"` // "" if only the number is known
	// Path is of a file, terminal, FIFO or unix socket, as the process names it.
	Path string `json:"path,omitempty"`
	// Link is what the kernel calls what has no path: "anon_inode:bpf-map".
	Link string `json:"link,omitempty"`

	// Of a socket:
	Protocol string `json:"protocol,omitempty"` // "TCP", "UDP", "unix", or another name of the kernel's
	State    string `json:"state,omitempty"`    // "LISTEN", "ESTABLISHED"
	Local    string `json:"local,omitempty"`    // "10.0.0.1:34812", "*:8080"
	Peer     string `json:"peer,omitempty"`     // "10.0.0.2:5432"; of a unix socket the peer's path

	// Ends are the processes that have the other end of a pipe, or of a unix socket: among this
	// process, its parent, its children and the parent's other children. Reads says that the
	// descriptor is the end of a pipe that one reads from.
	Ends  []Relative `json:"ends,omitempty"`
	Reads bool       `json:"reads,omitempty"`

	Watched int    `json:"watched,omitempty"` // how many descriptors an epoll has, or files an inotify
	More    bool   `json:"more,omitempty"`    // it has more than Watched: there are too many to be read
	Files   []File `json:"files,omitempty"`   // the first of an epoll's
	// Left is how long a timerfd has to go; 0 if it is not set.
	Left    time.Duration `json:"left_ns,omitempty"`
	PID     int           `json:"pid,omitempty"`     // of a pidfd; -1 if the process has ended
	Name    string        `json:"name,omitempty"`    // of a pidfd's process
	Signals []string      `json:"signals,omitempty"` // of a signalfd
}

// Relative is a process that has to do with the one that is looked at.
type Relative struct {
	PID  int    `json:"pid"`
	Name string `json:"name,omitempty"`
	Own  bool   `json:"own,omitempty"` // it is the process itself
	// Ended says that the process has ended, and has left what it held to one that it had made.
	Ended bool `json:"ended,omitempty"`
}

// String returns the process in words: `pid 4250 "grep"`.
func (r Relative) String() string {
	switch {
	case r.Own:
		return "this process"
	case r.Ended:
		return fmt.Sprintf("pid %d, which has ended", r.PID)
	case r.Name == "":
		return "pid " + strconv.Itoa(r.PID)
	}
	return fmt.Sprintf("pid %d %q", r.PID, r.Name)
}

// Join returns processes in words, of which there are all in all: `pid 1 "a", pid 2 "b" and 3
// more`.
func Join(list []Relative, all int) string {
	const most = 3
	var words []string
	for _, r := range list[:min(most, len(list))] {
		words = append(words, r.String())
	}
	text := strings.Join(words, ", ")
	if more := all - len(words); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// String returns what the descriptor leads to, in words: "TCP socket to 10.0.0.2:5432 from
// 10.0.0.1:34812", `pipe from pid 4250 "grep"`, "/var/log/messages"; "" if that is not known.
func (f *File) String() string { return f.words(true) }

// Summary returns the words that all descriptors of a kind share: of a connection without the own
// address, of an epoll without the list.
func (f *File) Summary() string { return f.words(false) }

func (f *File) words(all bool) string {
	switch f.Kind {
	case "":
		return ""
	case Regular:
		return f.Path
	case Terminal:
		return "terminal " + f.Path
	case Socket:
		return f.socket(all)
	case Pipe:
		text := "pipe"
		if f.Path != "" {
			text = "FIFO " + f.Path
		}
		switch {
		case len(f.Ends) == 0:
		case len(f.Ends) == 1 && f.Ends[0].Own:
			text += " within this process"
		case f.Reads:
			text += " from " + Join(f.Ends, len(f.Ends))
		default:
			text += " to " + Join(f.Ends, len(f.Ends))
		}
		return text
	case Epoll:
		text := "epoll of " + f.watched("fd")
		if all && len(f.Files) > 0 {
			text += ": " + List(f.Files, f.Watched)
		}
		return text
	case Timer:
		if f.Left > 0 && all {
			return fmt.Sprintf("timerfd, over in %v", f.Left.Round(time.Millisecond))
		}
		return "timerfd"
	case Signal:
		if len(f.Signals) > 0 {
			return "signalfd of " + strings.Join(f.Signals, ", ")
		}
		return "signalfd"
	case Inotify:
		return "inotify of " + f.watched("file")
	case Process:
		switch {
		case f.PID > 0:
			return "pidfd of " + Relative{PID: f.PID, Name: f.Name}.String()
		case f.PID < 0:
			return "pidfd of a process that has ended"
		}
		return "pidfd"
	case Other:
		return f.Link
	}
	return string(f.Kind)
}

func (f *File) socket(all bool) string {
	text := "socket"
	if f.Protocol != "" {
		text = f.Protocol + " socket"
	}
	switch {
	case f.State == "LISTEN":
		text = "listening " + text
		if at := f.Path + f.Local; at != "" {
			text += " " + at
		}
		return text
	case f.Peer != "":
		text += " to " + f.Peer
		if all && f.Local != "" {
			text += " from " + f.Local
		}
	case f.Path != "" || f.Local != "":
		text += " " + f.Path + f.Local
	}
	if len(f.Ends) > 0 {
		if f.Peer == "" {
			text += " to " + Join(f.Ends, len(f.Ends))
		} else {
			text += " (" + Join(f.Ends, len(f.Ends)) + ")"
		}
	}
	if f.State != "" && f.State != "ESTABLISHED" {
		text += ", " + f.State
	}
	return text
}

// List returns descriptors in words, of which there are all in all: "7 (terminal /dev/pts/3), 8".
func List(files []File, all int) string {
	var words []string
	for i := range files {
		text := strconv.Itoa(files[i].FD)
		if s := files[i].Summary(); s != "" {
			text += " (" + s + ")"
		}
		words = append(words, text)
	}
	text := strings.Join(words, ", ")
	if more := all - len(files); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// watched returns how many an epoll or an inotify has: "1 fd", "more than 9000 files".
func (f *File) watched(noun string) string {
	switch {
	case f.More && f.Watched == 0:
		return "many " + noun + "s"
	case f.More:
		return "more than " + count.Of(f.Watched, noun)
	}
	return count.Of(f.Watched, noun)
}
