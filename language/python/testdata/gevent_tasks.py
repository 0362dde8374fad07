# gevent_tasks.py: greenlets of gevent. It prints each that waits with its frames, as greenlets say
# it, and then waits for its input to end.
import gc
import json
import os
import sys

import gevent
import gevent.event
import gevent.fileobject
import gevent.queue
import greenlet

queue, event = gevent.queue.Queue(), gevent.event.Event()


def gets():
    queue.get()


def waits(n):
    if n:
        waits(n - 1)
    else:
        event.wait()


def sleeps():
    gevent.sleep(1000)


def joins(others):
    gevent.joinall(others)


def sorts():
    sorted([1], key=lambda _: event.wait())


def named(f, *args):
    g = gevent.spawn(f, *args)
    g.name = f.__name__ + "".join(" %r" % x for x in args if isinstance(x, int))
    return g


def frames(frame):
    list = []
    while frame:
        code = frame.f_code
        list.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return list


def tell():
    told = []
    for g in gc.get_objects():
        if isinstance(g, greenlet.greenlet) and g.gr_frame and g is not greenlet.getcurrent() and g is not gevent.get_hub():
            name = g.__dict__.get("name", "")
            told.append([name, frames(g.gr_frame), None, os.getpid() if sys.version_info >= (3, 11) else 0])
    print("ready")
    print(json.dumps(told), flush=True)


made = [named(gets), named(sleeps), named(sorts)] + [named(waits, i) for i in range(6)]
made.append(named(joins, made[:]))
greenlet.getcurrent().name = "main"
gevent.sleep(0.01)  # the others begin before that
tell()
gevent.fileobject.FileObject(sys.stdin, "r").read()
os._exit(0)
