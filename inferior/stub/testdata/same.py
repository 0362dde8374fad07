# Runs a program under a stub to main, changes it, steps, and tells its registers and memory then.
gdb.execute("set osabi GNU/Linux")
gdb.execute("target remote " + PARAMS["stub"], to_string=True)
breakpoint = gdb.Breakpoint("*main")
gdb.execute("continue", to_string=True)
breakpoint.delete()
for command in PARAMS["commands"]:
    gdb.execute(command)
for _ in range(PARAMS["steps"]):
    gdb.execute("stepi", to_string=True)
mask = 0xFFFFFFFFFFFFFFFF
emit({"registers": ["%x" % (int(gdb.parse_and_eval("(long) " + text)) & mask) for text in PARAMS["registers"]],
      "memory": bytes(gdb.selected_inferior().read_memory(PARAMS["address"], PARAMS["size"])).hex()})
emit({"end": True})
OUT.close()
