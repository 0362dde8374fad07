# Calls functions as PARAMS says: what they are given, what they are to return. It tells what they were
# given, and what gdb says that they return.
import time

gdb.execute("set confirm off")
gdb.execute("set debuginfod enabled off")
gdb.execute("set pagination off")
if PARAMS["stub"]:
    for _ in range(600):
        try:
            gdb.execute("target remote " + PARAMS["stub"])
            break
        except gdb.error:
            time.sleep(0.05)
gdb.execute("break main")
gdb.execute("continue" if PARAMS["stub"] else "run < /dev/null")
memory = gdb.selected_inferior()
record, result = (int(gdb.parse_and_eval("(long)&" + name)) for name in ("record", "result"))
for call in PARAMS["calls"]:
    name = call["Name"]
    params = gdb.lookup_global_symbol("proto_" + name[5:]).type.fields()
    args = [gdb.Value(bytes.fromhex(a), p.type) for a, p in zip(call["Args"], params)]
    memory.write_memory(result, bytes.fromhex(call["Result"]))
    gdb.execute("set var at = record")
    value = gdb.parse_and_eval(name)(*args)
    n = int(gdb.parse_and_eval("at - record"))
    recorded = bytes(memory.read_memory(record, n)).hex()
    gdb.set_convenience_variable("returned", value)
    gdb.execute("set var *(%s *)result = $returned" % value.type)
    emit({"Name": name, "Record": recorded, "Result": bytes(memory.read_memory(result, value.type.sizeof)).hex()})
gdb.execute("kill")
emit({"end": True})
