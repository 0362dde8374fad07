package main

import (
	_ "embed"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// The first version's messages, as protoc described them.
//
//go:embed sniffer.binpb
var described []byte

var messages = func() protoreflect.MessageDescriptors {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(described, &set); err != nil {
		panic(err)
	}
	file, err := protodesc.NewFile(set.File[0], nil)
	if err != nil {
		panic(err)
	}
	return file.Messages()
}()

func empty(name protoreflect.Name) *dynamicpb.Message {
	return dynamicpb.NewMessage(messages.ByName(name))
}

// message makes a message of protobuf's text format.
func message(name protoreflect.Name, text string) *dynamicpb.Message {
	m := empty(name)
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		panic(err)
	}
	return m
}

// object is a message that the host has sent. Fields that it does not have are zero.
type object struct{ protoreflect.ProtoMessage }

func (o object) field(name protoreflect.Name) (protoreflect.Message, protoreflect.FieldDescriptor) {
	m := o.ProtoReflect()
	return m, m.Descriptor().Fields().ByName(name)
}

func (o object) has(name protoreflect.Name) bool {
	m, f := o.field(name)
	return m.Has(f)
}

func (o object) value(name protoreflect.Name) protoreflect.Value {
	m, f := o.field(name)
	return m.Get(f)
}

func (o object) get(name protoreflect.Name) object {
	return object{o.value(name).Message().Interface()}
}
func (o object) uint(name protoreflect.Name) uint64   { return o.value(name).Uint() }
func (o object) string(name protoreflect.Name) string { return o.value(name).String() }
func (o object) bytes(name protoreflect.Name) []byte  { return o.value(name).Bytes() }

func (o object) list(name protoreflect.Name) (to []object) {
	l := o.value(name).List()
	for i := range l.Len() {
		to = append(to, object{l.Get(i).Message().Interface()})
	}
	return to
}

func (o object) uints(name protoreflect.Name) (to []uint64) {
	l := o.value(name).List()
	for i := range l.Len() {
		to = append(to, l.Get(i).Uint())
	}
	return to
}
