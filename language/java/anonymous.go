package java

import (
	"fmt"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// anonymousLayout says which classes have names that need not be their own, as the ones of lambdas
// have up to JDK 14. Java's traces add a number to such a name. Later releases have a number in the
// name itself.
type anonymousLayout struct {
	flags vmstructs.Field // of an InstanceKlass; its size is 0 if no class is known to be anonymous
	flag  int64           // the one that says so

	// JDK 8 adds the hash code of the class's java.lang.Class, and JDK 11 on the class's address.
	hashes         bool
	mirror, header vmstructs.Field // of a Klass, and of an ObjectMonitor
	shift, mask    int64           // of the hash code in a mark word
}

// anonymousOf8 is the flag that the tables of JDK 8 leave out, like the flags themselves: they lie
// before the version of the class file.
const anonymousOf8 = 1 << 3

func layOutAnonymous(t *vmstructs.Tables, release int) (l anonymousLayout) {
	if release == 8 {
		version := t.Fields["InstanceKlass::_minor_version"]
		mirror, has := t.Fields["Klass::_java_mirror"]
		shift, is := t.Constants["markOopDesc::hash_shift"]
		if version.Size != 2 || !has || !is || shift < 0 || shift > 63 {
			return l
		}
		version.Offset -= uint64(version.Size)
		return anonymousLayout{version, anonymousOf8, true, mirror, t.Fields["ObjectMonitor::_header"], shift, t.Constants["markOopDesc::hash_mask"]}
	}
	for _, name := range [...]string{"InstanceKlass::_misc_is_anonymous", "InstanceKlass::_misc_is_unsafe_anonymous"} {
		if flag, ok := t.Constants[name]; ok && release >= 11 {
			l.flags, l.flag = t.Fields["InstanceKlass::_misc_flags"], flag
		}
	}
	return l
}

// suffix returns what Java's traces add to the name of a class.
func (l *anonymousLayout) suffix(r *vmstructs.Reader, class uint64) string {
	if l.flags.Size == 0 {
		return ""
	}
	if flags, ok := r.Number(class, l.flags); !ok || flags&l.flag == 0 {
		return ""
	}
	if !l.hashes {
		return fmt.Sprintf("/0x%016x", class)
	}
	mirror, _ := r.Pointer(class, l.mirror)
	const unlocked, inflated, marks, biased = 1, 2, 3, 4
	mark, ok := r.Word(mirror)
	switch mark & marks {
	case 0: // the lock on a thread's stack has what was there
		mark, ok = r.Word(mark)
	case inflated:
		mark, ok = r.Pointer(mark&^marks, l.header)
	}
	hash := int64(mark) >> uint(l.shift) & l.mask
	if !ok || mirror == 0 || mark&marks != unlocked || mark&biased != 0 || hash == 0 {
		return "" // it has no hash code yet
	}
	return fmt.Sprintf("/%d", hash)
}
