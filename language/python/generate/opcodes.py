"""Prints the instructions of this Python that load a variable or an attribute, for
layouts/opcodes-3.N.txt: the name, its number, and how many code units of cache follow. An
instruction that the interpreter has adapted has the name of the one that it stands for."""
import opcode

names = ["EXTENDED_ARG", "NOP", "PUSH_EXC_INFO", "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF",
         "LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD"]
numbers = dict(opcode.opmap)
adapted = getattr(opcode, "_specializations", {})
caches = getattr(opcode, "_inline_cache_entries", [])
if hasattr(opcode, "_specialized_opmap"):
    numbers.update(opcode._specialized_opmap)
elif hasattr(opcode, "_specialized_instructions"):
    # They fill the gaps, in their order (Tools/build/generate_opcode_h.py).
    used, number = set(numbers.values()), 1
    for name in opcode._specialized_instructions:
        while number in used:
            number += 1
        numbers[name] = number
        used.add(number)
for name in names:
    number = numbers.get(name, 256)
    if number > 255:
        continue
    n = caches.get(name, 0) if hasattr(caches, "get") else caches[number] if number < len(caches) else 0
    for x in [name, *adapted.get(name, [])]:
        if "__" not in x and numbers.get(x, 256) < 256:
            print(name, numbers[x], n)
