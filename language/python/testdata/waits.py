"""Threads that wait for objects of the standard library. It prints for what each thread waits, by
the thread's name: the kind, the address, the name, the ID of the thread that has it, and whether
the wait has an end."""
import concurrent.futures
import importlib.abc
import importlib.machinery
import json
import queue
import sys
import threading

told = {}
started = []


class Jobs(queue.LifoQueue):
    pass


class Server:
    def __init__(self):
        self.jobs = Jobs()
        self.full = queue.Queue(1)
        self.full.put(None)


server = Server()
event = threading.Event()
condition = threading.Condition()
semaphore = threading.BoundedSemaphore(1)
semaphore.acquire()
barrier = threading.Barrier(9)
simple = queue.SimpleQueue()
pool = concurrent.futures.ThreadPoolExecutor(1)
future = pool.submit(event.wait)
guard = threading.Condition(threading.Lock())
ids = {}


def get():
    server.jobs.get()


def put(where):
    where.put(1)


def tasks_done():
    server.full.join()


def wait_for_event():
    event.wait(1000)


def wait_for_condition(local):
    with local:
        local.wait_for(lambda: False)


def acquire():
    semaphore.acquire()


def enter():
    with semaphore:
        pass


def meet():
    barrier.wait()


def get_simple():
    simple.get()


def result():
    future.result()


def join(thread):
    thread.join()


def join_with_timeout(thread):
    thread.join(1000)


def guards():
    with guard:
        event.wait()


def guarded():
    with guard:
        pass


class Slow(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Has the module slow, which waits while it is imported."""
    begun = threading.Event()

    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "slow" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        self.begun.set()
        event.wait()


def imports():
    import slow


def imports_too():
    Slow.begun.wait()
    import slow


def start(f, kind, what, name, *args, owner=None, timed=False, reads=id):
    def run():
        ids[f.__name__] = threading.get_native_id()
        f(*args)

    thread = threading.Thread(target=run, name=f.__name__, daemon=True)
    started.append((f.__name__, kind, reads(what), name, owner, timed))
    thread.start()
    return thread


def import_lock(_):
    import importlib._bootstrap as b
    lock = b._module_locks["slow"]()
    return id(lock)


sys.meta_path.insert(0, Slow())
first = start(get, "Queue", server.jobs, "server.jobs")
start(put, "Queue", server.full, "where", server.full)
start(tasks_done, "Queue", server.full, "server.full")
start(wait_for_event, "Event", event, "event", timed=True)
start(wait_for_condition, "Condition", condition, "local", condition)
start(acquire, "Semaphore", semaphore, "semaphore")
start(enter, "Semaphore", semaphore, "semaphore")
start(meet, "Barrier", barrier, "barrier")
start(get_simple, "SimpleQueue", simple, "simple")
start(result, "Future", future, "future")
start(join, "Thread", first, "thread", first, owner="get")
start(join_with_timeout, "Thread", first, "thread", first, owner="get", timed=True)
start(guards, "Event", event, "event")
while not guard._lock.locked():
    pass
start(guarded, "lock", guard._lock, "guard._lock")
start(imports, "Event", event, "event")
Slow.begun.wait()
start(imports_too, "import lock", None, "slow", owner="imports", reads=import_lock)
while len(ids) < len(started):
    pass
print("ready")
print(json.dumps({name: [kind, at, called, ids.get(owner, 0), timed] for name, kind, at, called, owner, timed in started}), flush=True)
event.wait()
