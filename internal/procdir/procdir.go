// Package procdir finds the folder in /proc that shows a process.
//
// /proc/PID shows the process as its first thread sees it. If that thread has ended, and others
// live on, the folder has neither memory nor files: the maps are empty, and the links lead nowhere.
// Any other thread's folder has them.
package procdir

import (
	"bytes"
	"os"
	"strconv"
)

// Of returns the folder: /proc/PID, or the one of a thread that lives, /proc/PID/task/TID. If the
// process has ended, it is /proc/PID, too.
func Of(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	if tid := Thread(pid); tid != pid {
		dir += "/task/" + strconv.Itoa(tid)
	}
	return dir
}

// File returns the path of a file in the folder, such as "maps".
func File(pid int, name string) string { return Of(pid) + "/" + name }

// Thread returns the first thread of a process if that lives, or another one that does. If none
// lives, it returns pid.
func Thread(pid int) int {
	dir := "/proc/" + strconv.Itoa(pid)
	if !ended(dir) {
		return pid
	}
	tasks, _ := os.ReadDir(dir + "/task")
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil && tid != pid && !ended(dir+"/task/"+t.Name()) {
			return tid
		}
	}
	return pid
}

// ended reports whether a thread has ended, by its folder.
func ended(dir string) bool {
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return true
	}
	// proc_pid_stat(5): PID (name) state … A name may have parentheses and blanks.
	_, rest, ok := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
	return ok && len(rest) > 0 && (rest[0] == 'Z' || rest[0] == 'X')
}
