package symbol

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// missing knows folders that are not there: most systems have no debug files, and a process may
// have thousands of modules.
type missing struct {
	mu   sync.Mutex
	seen map[regular.At]look
}

// look is what was seen of a folder, and when.
type look struct {
	missing bool
	at      time.Time
}

// An old look does not count: a root may be another process's, which has the number of one that has
// ended.
const oldLook = time.Second

// is reports whether a folder is not there, or was not a moment ago.
func (m *missing) is(folder regular.At) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if l, ok := m.seen[folder]; ok && now.Sub(l.at) < oldLook {
		return l.missing
	}
	_, err := folder.Stat()
	const most = 64
	if m.seen == nil || len(m.seen) >= most {
		m.seen = make(map[regular.At]look)
	}
	m.seen[folder] = look{errors.Is(err, fs.ErrNotExist), now}
	return m.seen[folder].missing
}
