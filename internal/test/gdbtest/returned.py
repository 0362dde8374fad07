# Lets the process that gdb has attached to run until it comes to an address with a stack
# pointer, and records the stack there of the thread that came.
import os
import signal

PID = gdb.selected_inferior().pid
if PID != PARAMS["pid"]:
    raise gdb.GdbError("gdb could not attach")
point = gdb.Breakpoint("*%#x" % PARAMS["to"], internal=True)
point.condition = "$sp == %#x" % PARAMS["sp"]
for name in (PARAMS["signal"], "SIGCONT", "SIGSTOP"):
    gdb.execute("handle %s nostop noprint pass" % name, to_string=True)
os.kill(PID, signal.Signals[PARAMS["signal"]])
os.kill(PID, signal.SIGCONT)  # it may have been stopped
output = gdb.execute("continue", to_string=True)
if gdb.selected_inferior().pid == 0 or gdb.newest_frame().pc() != PARAMS["to"]:
    raise gdb.GdbError("the process has not come to %#x: %s" % (PARAMS["to"], output))
frames, stop = stack_of_thread(0, True)
thread = gdb.selected_thread()
emit({"tid": thread.ptid[1], "name": thread.name or "", "frames": frames, "stop": stop})
point.delete()
emit({"end": True})
OUT.close()
