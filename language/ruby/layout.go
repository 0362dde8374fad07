package ruby

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

// layout has what differs between releases: offsets in structures, bytes, and constants. A field is
// absent where the release has no such thing.
type layout struct {
	major, minor int

	contextStack, contextStackSize, contextFrame, contextThread uint64

	frameSize, framePC, frameISeq, frameEP         uint64
	magicMask, magicCFunc, magicDummy              uint64
	flagFinish, flagLocal                          uint64
	iseqBody, bodyType, bodySize, bodyCode         uint64
	bodyPath, bodyLabel, bodyFirstLine             uint64
	bodyInfos, bodyInfoCount, bodyInfoIndex        uint64
	bodyAttributes, attributeCTrace                uint64
	bodyParent, bodyLocal                          uint64
	firstLineSize, infoSize, infoLine              uint64
	iseqMethod, iseqBlock                          uint64
	iseqRescue, iseqEnsure, iseqEval               uint64
	imemoShift, imemoMask                          uint64
	imemoMethod, imemoSVar, imemoISeq, svarMethod  uint64
	methodDefinition, methodOwner                  uint64
	definitionName, definitionFunction             uint64
	typeClass, typeModule, typeString, typeArray   uint64
	flagsSingleton                                 uint64
	stringNotEmbedded, stringLength, stringPointer uint64
	stringEmbedded                                 uint64
	stringEmbeddedMask, stringEmbeddedShift        uint64
	arrayEmbeddedFlag, arrayEmbeddedMask           uint64
	arrayEmbeddedShift, arrayLength, arrayPointer  uint64
	arrayEmbedded                                  uint64
	classExtension, classEmbedded                  uint64
	extensionVariables, extensionPath              uint64
	extensionValues, vmShapes                      uint64
	shapeSize, shapeName, shapeCount               uint64
	shapeType, shapeParent, shapeVariable          uint64
	extensionAttached                              uint64
	extensionPermanentByte, extensionPermanentBit  uint64
	tableStart, tableBound, tableEntries           uint64
	symbolsLast, symbolsIDs, idLastOperator        uint64
	idShift                                        uint64
	vmRactors, vmMainRactor                        uint64
	ractorNext, ractorThreads                      uint64
	ractorNumber, ractorName, ractorRunning        uint64
	threadRactor, threadVM, threadNative           uint64
	threadContext, threadStatusByte                uint64
	threadStatusBit, threadMutex                   uint64
	ractorQueue, threadNext, threadQueue           uint64
	threadTID, threadID                            uint64
	nativeTID, nativeID                            uint64
	contextFiber, vmHeap, threadObject             uint64
	fiberObject, fiberPrev, fiberResuming          uint64
	fiberStatusByte, fiberStatusBit                uint64
	statusSuspended, statusResumed                 uint64
	fiberListContext, fiberListNext                uint64
	heapPages, heapCount, pageSize                 uint64
	pageCount, pageStart, typeData, dataType       uint64
	contextError, dataData                         uint64
	fiberContext                                   uint64
	threadName, threadRootFiber                    uint64
	statusRunnable, statusStopped                  uint64
	statusForever, statusKilled                    uint64
}

// absent is the value of a field that a release does not have.
const absent = ^uint64(0)

// fields returns the fields by their names in the tables.
func (l *layout) fields() map[string]*uint64 {
	return map[string]*uint64{
		"context.stack": &l.contextStack, "context.stack_size": &l.contextStackSize, "context.frame": &l.contextFrame, "context.thread": &l.contextThread,
		"frame.size": &l.frameSize, "frame.pc": &l.framePC, "frame.iseq": &l.frameISeq, "frame.ep": &l.frameEP,
		"magic.mask": &l.magicMask, "magic.cfunc": &l.magicCFunc, "magic.dummy": &l.magicDummy, "flag.finish": &l.flagFinish, "flag.local": &l.flagLocal,
		"iseq.body": &l.iseqBody, "body.type": &l.bodyType, "body.size": &l.bodySize, "body.code": &l.bodyCode,
		"body.path": &l.bodyPath, "body.label": &l.bodyLabel, "body.first_line": &l.bodyFirstLine,
		"body.infos": &l.bodyInfos, "body.info_count": &l.bodyInfoCount, "body.info_index": &l.bodyInfoIndex,
		"body.attributes": &l.bodyAttributes, "attribute.c_trace": &l.attributeCTrace, "body.parent": &l.bodyParent, "body.local": &l.bodyLocal,
		"first_line.size": &l.firstLineSize, "info.size": &l.infoSize, "info.line": &l.infoLine,
		"iseq.method": &l.iseqMethod, "iseq.block": &l.iseqBlock, "iseq.rescue": &l.iseqRescue, "iseq.ensure": &l.iseqEnsure, "iseq.eval": &l.iseqEval,
		"imemo.shift": &l.imemoShift, "imemo.mask": &l.imemoMask, "imemo.method": &l.imemoMethod, "imemo.svar": &l.imemoSVar, "imemo.iseq": &l.imemoISeq, "svar.method": &l.svarMethod,
		"method.definition": &l.methodDefinition, "method.owner": &l.methodOwner, "definition.name": &l.definitionName, "definition.function": &l.definitionFunction,
		"type.class": &l.typeClass, "type.module": &l.typeModule, "type.string": &l.typeString, "type.array": &l.typeArray, "flags.singleton": &l.flagsSingleton,
		"string.not_embedded": &l.stringNotEmbedded, "string.length": &l.stringLength, "string.pointer": &l.stringPointer, "string.embedded": &l.stringEmbedded,
		"string.embedded_mask": &l.stringEmbeddedMask, "string.embedded_shift": &l.stringEmbeddedShift,
		"array.embedded_flag": &l.arrayEmbeddedFlag, "array.embedded_mask": &l.arrayEmbeddedMask, "array.embedded_shift": &l.arrayEmbeddedShift,
		"array.length": &l.arrayLength, "array.pointer": &l.arrayPointer, "array.embedded": &l.arrayEmbedded,
		"class.extension": &l.classExtension, "class.embedded": &l.classEmbedded, "extension.variables": &l.extensionVariables,
		"extension.values": &l.extensionValues, "vm.shapes": &l.vmShapes, "shape.size": &l.shapeSize, "shape.name": &l.shapeName, "shape.count": &l.shapeCount,
		"shape.type": &l.shapeType, "shape.parent": &l.shapeParent, "shape.variable": &l.shapeVariable,
		"extension.path": &l.extensionPath, "extension.attached": &l.extensionAttached,
		"extension.permanent_byte": &l.extensionPermanentByte, "extension.permanent_bit": &l.extensionPermanentBit,
		"table.start": &l.tableStart, "table.bound": &l.tableBound, "table.entries": &l.tableEntries,
		"symbols.last": &l.symbolsLast, "symbols.ids": &l.symbolsIDs, "id.last_operator": &l.idLastOperator, "id.shift": &l.idShift,
		"vm.ractors": &l.vmRactors, "vm.main_ractor": &l.vmMainRactor, "ractor.next": &l.ractorNext, "ractor.threads": &l.ractorThreads,
		"ractor.number": &l.ractorNumber, "ractor.name": &l.ractorName, "ractor.running": &l.ractorRunning,
		"thread.ractor": &l.threadRactor, "thread.vm": &l.threadVM, "thread.native": &l.threadNative, "thread.context": &l.threadContext,
		"thread.status_byte": &l.threadStatusByte, "thread.status_bit": &l.threadStatusBit, "thread.mutex": &l.threadMutex,
		"thread.name": &l.threadName, "thread.root_fiber": &l.threadRootFiber,
		"ractor.queue": &l.ractorQueue, "thread.next": &l.threadNext, "thread.queue": &l.threadQueue, "thread.tid": &l.threadTID, "thread.id": &l.threadID,
		"native.tid": &l.nativeTID, "native.id": &l.nativeID, "context.error": &l.contextError, "data.data": &l.dataData, "fiber.context": &l.fiberContext,
		"context.fiber": &l.contextFiber, "vm.heap": &l.vmHeap, "thread.object": &l.threadObject, "fiber.object": &l.fiberObject, "fiber.prev": &l.fiberPrev,
		"fiber.resuming": &l.fiberResuming, "fiber.status_byte": &l.fiberStatusByte, "fiber.status_bit": &l.fiberStatusBit,
		"status.suspended": &l.statusSuspended, "status.resumed": &l.statusResumed, "fiber.list_context": &l.fiberListContext, "fiber.list_next": &l.fiberListNext,
		"heap.pages": &l.heapPages, "heap.count": &l.heapCount, "page.size": &l.pageSize, "page.count": &l.pageCount, "page.start": &l.pageStart,
		"type.data": &l.typeData, "data.type": &l.dataType,
		"status.runnable": &l.statusRunnable, "status.stopped": &l.statusStopped, "status.forever": &l.statusForever, "status.killed": &l.statusKilled,
	}
}

// layouts has a file for each minor release.
//
//go:embed layouts
var layouts embed.FS

// layoutOf returns the layout of a minor release, as its sources have it.
func layoutOf(major, minor int) (*layout, error) {
	l := &layout{major: major, minor: minor}
	text, err := layouts.ReadFile(fmt.Sprintf("layouts/%d.%d.txt", major, minor))
	if err != nil {
		return nil, fmt.Errorf("the layout of Ruby %d.%d is not known", major, minor)
	}
	fields := l.fields()
	for _, f := range fields {
		*f = absent
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 2 || fields[words[0]] == nil {
			continue
		}
		if *fields[words[0]], err = strconv.ParseUint(words[1], 10, 64); err != nil {
			return nil, fmt.Errorf("the layout of Ruby %d.%d: %w", major, minor, err)
		}
	}
	return l, nil
}

// atLeast reports whether the release is this one or a later one.
func (l *layout) atLeast(major, minor int) bool {
	return l.major > major || l.major == major && l.minor >= minor
}
