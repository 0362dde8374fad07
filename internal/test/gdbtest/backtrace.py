# The stacks of all threads of the process that gdb has attached to.
if gdb.selected_inferior().pid != PARAMS["pid"]:
    raise gdb.GdbError("gdb could not attach")
for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.ptid[1]):
    thread.switch()
    frames, stop = stack_of_thread(PARAMS["limit"], PARAMS["registers"])
    emit({"tid": thread.ptid[1], "name": thread.name or "", "frames": frames, "stop": stop})
emit({"end": True})
OUT.close()
