package bash

// The offsets of the fields of bash's structures, bytes, where pointers have 8 bytes: variables.h,
// hashlib.h, array.h and jobs.h of bash 4.4 to 5.3.
const (
	contextTable = 32 // VAR_CONTEXT.table

	tableBuckets = 0 // HASH_TABLE
	tableSize    = 8

	bucketNext = 0 // BUCKET_CONTENTS
	bucketKey  = 8
	bucketData = 16

	variableValue      = 8 // SHELL_VAR
	variableAttributes = 40
	attributeArray     = 0x4 // att_array

	elementIndex    = 0 // ARRAY_ELEMENT
	elementValue    = 8
	elementNext     = 16
	elementPrevious = 24

	statsSlots = 28 // struct jobstats.j_jobslots

	jobProcesses = 8 // JOB.pipe

	processNext    = 0 // PROCESS
	processID      = 8
	processRunning = 16
	processCommand = 24
	running        = 1 // PS_RUNNING
)

// headOf returns where an ARRAY of a release has the pointer to its head, the element before the
// first one and behind the last one; ok is false if that is not known.
func headOf(major, minor int) (offset uint64, ok bool) {
	switch {
	case major == 4 && minor == 4, major == 5 && minor == 1:
		return 24, true
	case major == 5 && minor == 0:
		return 32, true
	case major == 5 && (minor == 2 || minor == 3):
		return 16, true
	}
	return 0, false
}
