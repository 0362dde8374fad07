package perfmap

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Owner reads /proc/PID/status (proc_pid_status(5)): the PID in the innermost namespace, the last
// of NSpid, which the map's name has; and the effective user, the second of Uid, whose the map is.
// pid is 0 and uid is -1 where the text does not say.
func Owner(status io.Reader) (pid, uid int) {
	uid = -1
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		ids := strings.Fields(value)
		switch {
		case name == "NSpid" && len(ids) > 0:
			if id, err := strconv.Atoi(ids[len(ids)-1]); err == nil {
				pid = id
			}
		case name == "Uid" && len(ids) > 1:
			if id, err := strconv.Atoi(ids[1]); err == nil {
				uid = id
			}
		}
	}
	return pid, uid
}
