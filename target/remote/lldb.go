package remote

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// suffixes is a feature that lldb-server alone offers.
const suffixes = "QThreadSuffixSupported"

// maxAsked bounds the threads whose names lldb-server is asked for, one by one.
const maxAsked = 4096

// askLLDB asks lldb-server for what it tells in packets of its own (lldb's
// docs/resources/lldbgdbremote.md): the process's ID, and the threads' names.
func (t *Target) askLLDB() error {
	if !t.s.features[suffixes] {
		return nil
	}
	if t.PID == 0 {
		reply, err := t.s.exchange("qProcessInfo")
		if fatal(err) {
			return err
		}
		if pid, err := strconv.ParseUint(keyed(reply, "pid"), 16, 31); err == nil {
			t.PID = int(pid)
		}
	}
	for _, th := range t.threads[:min(len(t.threads), maxAsked)] {
		if th.name != "" {
			continue
		}
		reply, err := t.s.exchange(fmt.Sprintf("qThreadStopInfo%x", th.id.tid))
		if fatal(err) {
			return err
		}
		if th.name = keyed(reply, "name"); th.name == "" {
			name, _ := hex.DecodeString(keyed(reply, "hexname"))
			th.name = string(name)
		}
	}
	return nil
}

// keyed returns the value of a key in an answer that is a list of KEY:VALUE; or "".
func keyed(reply []byte, key string) string {
	text := string(reply)
	if len(text) > 3 && text[0] == 'T' {
		text = text[3:] // a stop reply's signal
	}
	for pair := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(pair, ":"); ok && name == key {
			return value
		}
	}
	return ""
}
