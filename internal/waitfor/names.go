package waitfor

import "strings"

// known are the functions of C's libraries in which threads wait, without their leading
// underscores.
var known = []struct {
	prefix string
	kind   Kind
}{
	{"pthread_mutex_cond_lock", Mutex},
	{"pthread_mutex_", Mutex},
	{"lll_lock_wait", Unknown}, // the callers tell
	{"pthread_rwlock_", RWLock},
	{"pthread_cond_", Condition},
	{"pthread_barrier_wait", Barrier},
	{"pthread_once", Once},
	{"cxa_guard_acquire", Once},
	{"pthread_join", End}, {"pthread_clockjoin", End}, {"pthread_timedjoin", End}, {"pthread_tryjoin", End},
	{"sem_wait", Semaphore}, {"sem_timedwait", Semaphore}, {"sem_clockwait", Semaphore},
	{"new_sem_", Semaphore},
	{"flockfile", File},
}

// ofRust are functions of Rust's std in which threads wait. Their locks keep no owner.
var ofRust = []struct {
	part  string
	kind  Kind
	reads bool
}{
	{"futex_mutex::Mutex::lock_contended", Mutex, false},
	{"mutex::futex::Mutex::lock_contended", Mutex, false},
	{"futex_rwlock::RwLock::read_contended", RWLock, true},
	{"futex_rwlock::RwLock::write_contended", RWLock, false},
	{"rwlock::futex::RwLock::read_contended", RWLock, true},
	{"rwlock::futex::RwLock::write_contended", RWLock, false},
	{"condvar::futex::Condvar::wait", Condition, false},
	{"futex_condvar::Condvar::wait", Condition, false},
	{"once::futex::Once::call", Once, false},
	{"futex_once::Once::call", Once, false},
	// parking_lot's threads wait for a word of their own, not for the lock's.
	{"parking_lot::raw_mutex::RawMutex::lock_slow", Mutex, false},
	{"parking_lot::raw_rwlock::RawRwLock::lock_shared_slow", RWLock, true},
	{"parking_lot::raw_rwlock::RawRwLock::lock_exclusive_slow", RWLock, false},
	{"parking_lot::condvar::Condvar::wait_until_internal", Condition, false},
}

// ofFile are functions of glibc's and musl's stdio that lock a FILE.
var ofFile = map[string]bool{
	"fflush": true, "fputs": true, "puts": true, "fwrite": true, "fread": true, "fgets": true, "putc": true, "fputc": true, "getc": true, "fgetc": true,
	"fclose": true, "vfprintf_internal": true, "IO_puts": true, "IO_fwrite": true, "IO_fflush": true, "IO_fputs": true, "lockfile": true,
}

// name takes the kind of the lock from the names of the functions in which the thread is.
func (l *lock) name(functions []string) {
	for _, name := range functions {
		if l.nameBy(name) {
			return
		}
	}
}

// KindOf returns for what a thread waits that is in futex(2) and in a function of a C library, or
// of Rust's std; Unknown if that function does not tell.
func KindOf(function string) Kind {
	var l lock
	l.nameBy(function)
	return l.kind
}

// nameBy takes the kind of the lock from the name of a function.
func (l *lock) nameBy(name string) bool {
	for _, r := range ofRust {
		if strings.Contains(name, r.part) {
			l.named, l.kind, l.reads, l.ownerless = true, r.kind, r.reads, true
			l.parked = strings.HasPrefix(r.part, "parking_lot")
			return true
		}
	}
	name = strings.TrimPrefix(strings.TrimLeft(name, "_"), "GI_")
	name = strings.TrimLeft(name, "_")
	if ofFile[name] {
		l.named, l.kind = true, File
		return true
	}
	for _, k := range known {
		if strings.HasPrefix(name, k.prefix) && k.kind != Unknown {
			l.named, l.kind, l.reads = true, k.kind, strings.Contains(name, "rdlock")
			return true
		}
	}
	return false
}
