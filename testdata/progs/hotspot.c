/* hotspot: code in a heap that is described as a Java virtual machine of the HotSpot family
 * describes it to its debuggers: by tables at exported symbols.
 *
 * Proves: what is needed is taken from the tables alone. Each layout has its fields elsewhere.
 *   main > call_stub > compiled > (adapter) > interpreter > (adapter) > compiled2 > leaf
 * Compiled code uses the frame pointer for something else. The adapter moves the return address,
 * so that the interpreter's caller has its stack pointer from the interpreted frame alone. Control
 * comes back to the interpreter at an address that no call is before.
 *
 * Usage: hotspot 8|17|25 [spin] [without TYPE::FIELD]
 * The number says as which release of Java the tables are: 8 has one heap, 25 small fields. It
 * waits for input, and then runs all once, or with spin for ever in a loop without a way out.
 *
 * Build: gcc -O2 -rdynamic hotspot.c
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE(name) extern const char name[], name##_end[];
CODE(call_stub) CODE(compiled) CODE(adapter) CODE(entry) CODE(return_entry) CODE(ireturn) CODE(compiled2)
extern const char adapter_c2i[], call_stub_return[], compiled_complete[], compiled2_complete[];

/* %r15 points to: call_stub's callee, the adapter's entry for compiled code, the interpreter's entry,
 * the adapter, the return entry, ireturn, leaf, the address beyond which a stack pointer is to stop,
 * where it would, compiled2, whether the adapter calls leaf. */
__asm__(".text\n"
        "call_stub: push %rbp\n mov %rsp,%rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "  sub $8,%rsp\n mov %rdi,%r15\n call *0(%r15)\n"
        "call_stub_return: lea -40(%rbp),%rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
        "call_stub_end:\n"
        "compiled: mov %eax,-0x1000(%rsp)\n push %rbp\n sub $0x20,%rsp\n"
        "compiled_complete: jmp 1f\n .skip 20000,0xcc\n"
        "1: mov $0x1234,%ebp\n pushfq\n andq $-5,(%rsp)\n popfq\n xor %ebx,%ebx\n xor %r12d,%r12d\n call *8(%r15)\n"
        "  add $0x20,%rsp\n pop %rbp\n cmp 56(%r15),%rsp\n ja 2f\n ret\n"
        "2: mov %rbx,%r10\n jmp *64(%r15)\n"
        "compiled_end:\n"
        "adapter: mov %rsp,%r11\n pop %rax\n and $-16,%rsp\n push %rax\n mov %r11,%rax\n mov 72(%r15),%r11\n mov %rbx,%rax\n"
        "  jmp *%r11\n"
        "adapter_c2i: cmpq $0,80(%r15)\n je 1f\n mov %rsp,%r13\n mov (%rsp),%rax\n and $-16,%rsp\n pushfq\n sub $0x88,%rsp\n"
        "  mov %rax,0x78(%rsp)\n mov %rbp,0x50(%rsp)\n call *48(%r15)\n mov 0x50(%rsp),%rbp\n mov 0x78(%rsp),%rax\n"
        "  add $0x88,%rsp\n popfq\n mov %r13,%rsp\n"
        "1: pop %rax\n mov %rsp,%r13\n sub $0x30,%rsp\n push %rax\n jmp *16(%r15)\n"
        "adapter_end:\n"
        "entry: pop %rax\n mov $2,%edx\n 1: push $0\n dec %edx\n jg 1b\n push %rax\n push %rbp\n mov %rsp,%rbp\n push %r13\n push $0\n push %rbx\n"
        "  sub $0x48,%rsp\n mov $5,%r13d\n pushq 32(%r15)\n jmp *24(%r15)\n"
        "entry_end:\n"
        "return_entry: movq $0,-16(%rbp)\n mov $7,%eax\n jmp *40(%r15)\n"
        "return_entry_end:\n"
        "ireturn: mov -8(%rbp),%r11\n leave\n pop %rdi\n mov %r11,%rsp\n jmp *%rdi\n"
        "ireturn_end:\n"
        "compiled2: push %rbp\n sub $0x50,%rsp\n"
        "compiled2_complete: mov $0x77,%ebp\n call *48(%r15)\n test %eax,%eax\n jnz 1f\n add $0x50,%rsp\n pop %rbp\n ret\n"
        "1: jmp 1b\n"
        "compiled2_end:\n");

static int spins;
__attribute__((noinline)) int leaf(void) {
    __asm__ volatile("" ::: "memory");
    return spins;
}

/* The tables: entries of a form of our own, told by the symbols below. */
struct vmfield { uint64_t pad, address; const char *type, *of; uint64_t offset; int32_t is_static, pad2; const char *name; };
struct vmtype { const char *super; uint64_t size; const char *name; int32_t is_unsigned, is_oop, is_integer, pad; };
struct vmint { int32_t value, pad; const char *name; };
struct vmlong { const char *name; int64_t value; };

static struct vmfield fields[64];
static struct vmtype types[64];
static struct vmint ints[8];
static struct vmlong longs[1];
#define EXPORT __attribute__((visibility("default"), used))
#define AT(symbol, type, field) EXPORT uint64_t gHotSpotVM##symbol = __builtin_offsetof(struct type, field);
EXPORT struct vmfield *gHotSpotVMStructs = fields;
EXPORT struct vmtype *gHotSpotVMTypes = types;
EXPORT struct vmint *gHotSpotVMIntConstants = ints;
EXPORT struct vmlong *gHotSpotVMLongConstants = longs;
EXPORT uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct vmfield);
EXPORT uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct vmtype);
EXPORT uint64_t gHotSpotVMIntConstantEntryArrayStride = sizeof(struct vmint);
EXPORT uint64_t gHotSpotVMLongConstantEntryArrayStride = sizeof(struct vmlong);
AT(StructEntryTypeNameOffset, vmfield, of) AT(StructEntryFieldNameOffset, vmfield, name)
AT(StructEntryTypeStringOffset, vmfield, type) AT(StructEntryIsStaticOffset, vmfield, is_static)
AT(StructEntryOffsetOffset, vmfield, offset) AT(StructEntryAddressOffset, vmfield, address)
AT(TypeEntryTypeNameOffset, vmtype, name) AT(TypeEntrySizeOffset, vmtype, size)
AT(TypeEntryIsUnsignedOffset, vmtype, is_unsigned)
AT(IntConstantEntryNameOffset, vmint, name) AT(IntConstantEntryValueOffset, vmint, value)
AT(LongConstantEntryNameOffset, vmlong, name) AT(LongConstantEntryValueOffset, vmlong, value)

static const char *without = "";
static int nfields, ntypes, release;
static void field(const char *of, const char *name, const char *type, uint64_t offset, void *address) {
    char whole[128];
    snprintf(whole, sizeof whole, "%s::%s", of, name);
    if (strcmp(whole, without) != 0)
        fields[nfields++] = (struct vmfield){.of = of, .name = name, .type = type, .offset = offset, .address = (uint64_t)address, .is_static = address != 0};
}
static void type(const char *name, uint64_t size, int is_unsigned) {
    types[ntypes++] = (struct vmtype){.name = name, .size = size, .is_unsigned = is_unsigned};
}

/* Structures, whose fields lie elsewhere in each release. */
enum { SEGMENT = 6, HEAP = 1 << 16, BLOB = 160 };
static char *low, *at;
static unsigned char segmap[HEAP >> SEGMENT];
static uint64_t heap_object[64];
static struct {
    uint64_t pad;
    char *buffer;
    int32_t limit, begin, end;
} queue_object;
static void *heaps[2], *list, *queue, *heap_static, *stub_return;
static uint64_t slot(int i) { return 8 * (uint64_t)((i * 5 + release) % 16); }
enum { FRAME, COMPLETE, BEGIN, END, CODE, DATA, NAME };

static void put(char *to, const char *type, int64_t v) {
    if (strcmp(type, "int16_t") == 0)
        *(int16_t *)to = (int16_t)v;
    else if (strcmp(type, "int") == 0)
        *(int32_t *)to = (int32_t)v;
    else
        *(int64_t *)to = v;
}

/* block takes a block of the heap and fills in its segments. */
static char *block(size_t size) {
    size_t header = release == 25 ? 8 : 16, n = (header + size + (1 << SEGMENT) - 1) >> SEGMENT;
    size_t first = (size_t)(at - low) >> SEGMENT;
    char *b = at;
    for (size_t i = 0; i < n; i++)
        segmap[first + i] = i < 0xfe ? i : 0xfe;
    b[release == 25 ? 4 : 8] = 1; /* used */
    at += n << SEGMENT;
    return b + header;
}

static char *blob(const char *name, const char *code, const char *end, int frame, int64_t complete) {
    size_t n = (size_t)(end - code);
    char *b = block(BLOB + n), *to = b + BLOB;
    memcpy(to, code, n);
    put(b + slot(FRAME), "int", frame);
    put(b + slot(NAME), "char*", (int64_t)name);
    put(b + slot(COMPLETE), release == 25 ? "int16_t" : "int", complete);
    if (release == 17) {
        put(b + slot(BEGIN), "address", (int64_t)to);
        put(b + slot(END), "address", (int64_t)(to + n));
    } else {
        put(b + slot(CODE), "int", BLOB);
        put(b + slot(DATA), "int", (int64_t)(BLOB + n));
    }
    return to;
}

/* codelet adds a codelet to the interpreter's code. */
static char *codelet(char **end, const char *name, const char *code, const char *code_end) {
    char *c = *end, *to = c + 32;
    size_t n = (size_t)(code_end - code), size = (32 + n + 31) / 32 * 32;
    *(const char **)c = name;
    *(int32_t *)(c + 8) = (int32_t)size;
    memcpy(to, code, n);
    *end = c + size;
    return to;
}

int main(int argc, char **argv) {
    static void *callees[11];
    char c;

    if (argc < 2)
        return 2;
    release = atoi(argv[1]);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "spin") == 0)
            spins = 1;
        else if (strcmp(argv[i], "without") == 0 && i + 1 < argc)
            without = argv[++i];
    }
    low = at = mmap(0, HEAP, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(segmap, 0xff, sizeof segmap);
    at += 5 << SEGMENT; /* free */

    char *stub = blob("StubRoutines (1)", call_stub, call_stub_end, 0, -1);
    callees[0] = blob("nmethod", compiled, compiled_end, 6, compiled_complete - compiled);
    callees[3] = blob("I2C/C2I adapters", adapter, adapter_end, 0, -1);
    callees[1] = (char *)callees[3] + (adapter_c2i - adapter);
    callees[9] = blob("nmethod", compiled2, compiled2_end, 12, compiled2_complete - compiled2);
    char *buffer = block(4096), *code = buffer + 64;
    buffer += 64;
    callees[4] = codelet(&code, "return entry points", return_entry, return_entry_end);
    callees[2] = codelet(&code, "method entry point (kind = zerolocals)", entry, entry_end);
    callees[5] = codelet(&code, "ireturn", ireturn, ireturn_end);
    callees[6] = (void *)leaf;
    callees[7] = (void *)~0UL;
    callees[10] = low; /* it does */
    stub_return = stub + (call_stub_return - call_stub);

    heap_object[2] = SEGMENT, heap_object[10] = (uint64_t)low, heap_object[11] = (uint64_t)low + HEAP;
    heap_object[20] = (uint64_t)segmap, heap_object[21] = (uint64_t)segmap + sizeof segmap;
    queue_object.buffer = buffer, queue_object.limit = 2048, queue_object.end = (int32_t)(code - buffer);
    queue = &queue_object;

    static struct {
        int32_t len, max;
        uint64_t pad;
        void **data;
    } growable;
    static uint64_t nothing[64];
    heaps[0] = nothing, heaps[1] = heap_object; /* the first is empty */
    growable.len = growable.max = 2, growable.data = heaps;
    list = &growable, heap_static = heap_object;
    if (release == 8)
        field("CodeCache", "_heap", "CodeHeap*", 0, &heap_static);
    else
        field("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 0, &list);
    field(release == 8 ? "GenericGrowableArray" : "GrowableArrayBase", "_len", "int", 0, 0);
    field("GrowableArray<int>", "_data", "int*", 16, 0);
    field("CodeHeap", "_memory", "VirtualSpace", 80, 0);
    field("CodeHeap", "_segmap", "VirtualSpace", 160, 0);
    field("CodeHeap", "_log2_segment_size", "int", 16, 0);
    field("VirtualSpace", "_low", "char*", 0, 0);
    field("VirtualSpace", "_high", "char*", 8, 0);
    field("HeapBlock", "_header", "HeapBlock::Header", 0, 0);
    field("HeapBlock::Header", "_used", "bool", release == 25 ? 4 : 8, 0);
    field("CodeBlob", "_name", "const char*", slot(NAME), 0);
    field("CodeBlob", "_frame_size", "int", slot(FRAME), 0);
    field("CodeBlob", "_frame_complete_offset", release == 25 ? "int16_t" : "int", slot(COMPLETE), 0);
    if (release == 17) {
        field("CodeBlob", "_code_begin", "address", slot(BEGIN), 0);
        field("CodeBlob", "_code_end", "address", slot(END), 0);
    } else {
        field("CodeBlob", "_code_offset", "int", slot(CODE), 0);
        field("CodeBlob", "_data_offset", "int", slot(DATA), 0);
    }
    field("AbstractInterpreter", "_code", "StubQueue*", 0, &queue);
    field("StubQueue", "_stub_buffer", "address", 8, 0);
    field("StubQueue", "_buffer_limit", "int", 16, 0);
    field("StubQueue", "_queue_begin", "int", 20, 0);
    field("StubQueue", "_queue_end", "int", 24, 0);
    field("InterpreterCodelet", "_size", "int", 8, 0);
    field("InterpreterCodelet", "_description", "const char*", 0, 0);
    field("StubRoutines", "_call_stub_return_address", "address", 0, &stub_return);
    type("int", 4, 0), type("int16_t", 2, 0), type("bool", 1, 1), type("char*", 8, 0);
    type("HeapBlock", release == 25 ? 8 : 16, 0), type("InterpreterCodelet", 16, 0);
    ints[0] = (struct vmint){.name = "frame::interpreter_frame_sender_sp_offset", .value = -1};

    puts("ready");
    fflush(stdout);
    while (read(0, &c, 1) == 1)
        ((void (*)(void **))stub)(callees);
    return 0;
}
