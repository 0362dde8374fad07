# inner.py: a text that several Pythons of a process run, each of which calls the next one by
# inner(), having said what its frames are. The innermost one stands still.
import sys, _thread
def outer(n):
    if n: outer(n - 1)
    else: calls()
def calls():
    f, frames, lock = sys._getframe(), [], _thread.allocate_lock()
    while f:
        frames.append(f)
        f = f.f_back
    say(frames), inner(), lock.acquire(), lock.acquire()
def say(frames):
    print(",".join("%s %d" % (f.f_code.co_name, f.f_lineno) for f in frames), flush=True)
outer(2)
