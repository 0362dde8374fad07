# Runs a program and stops it at functions of its own, and some instructions on. At each stop the frames of all
# threads are recorded, and a core file is written. The program begins anew when it has ended.


def alive():
    return gdb.selected_inferior().pid != 0


def begin():
    gdb.execute("starti </dev/null >/dev/null 2>&1", to_string=True)


gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("set step-mode on")
for number, at in enumerate(PARAMS["moments"]):
    try:
        if not alive():
            begin()
        point = gdb.Breakpoint("*" + at["function"] if at["function"] else "*$pc", temporary=True)
        point.silent = True
        if at["function"]:
            gdb.execute("continue", to_string=True)
        if point.is_valid():
            point.delete()
        if not alive():
            continue
        if at["steps"]:
            gdb.execute("stepi %d" % at["steps"], to_string=True)
        if not alive():
            continue
        threads = []
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.ptid[1]):
            thread.switch()
            frames, stop = stack_of_thread(PARAMS["limit"], False)
            threads.append({"tid": thread.ptid[1], "name": thread.name or "", "frames": frames, "stop": stop})
        core = "%s/core.%d" % (PARAMS["cores"], number)
        gdb.execute("generate-core-file " + core, to_string=True)
        emit({"moment": number, "core": core, "threads": threads})
        OUT.flush()
    except (gdb.error, UnicodeDecodeError) as error:
        emit({"moment": number, "error": str(error)})
        OUT.flush()
if alive():
    gdb.execute("kill", to_string=True)
emit({"end": True})
OUT.close()
