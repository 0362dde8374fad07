"""Threads that have taken locks by acquire(), and give them back in "finally". It prints which
locks each of them has, by their addresses."""
import json
import sys
import threading

done = threading.Event()
entered = threading.Barrier(12)
shared = threading.Lock()
condition = threading.Condition(threading.Lock())
recursive = threading.RLock()
let_go = threading.Lock()
others = threading.Lock()
others.acquire()


def waits():
    entered.wait()
    done.wait()


class Server:
    in_class = threading.Lock()

    def __init__(self):
        self.lock = threading.Lock()
        self.inner = None


def of_global():
    shared.acquire()
    try:
        waits()
    finally:
        shared.release()


def of_local(lock):
    lock.acquire()
    try:
        for _ in [1]:
            try:
                waits()
            except ValueError:
                pass
    finally:
        lock.release()


def of_attribute(server):
    server.inner.lock.acquire()
    try:
        waits()
    finally:
        server.inner.lock.release()


def of_class(server):
    server.in_class.acquire()
    try:
        waits()
    finally:
        server.in_class.release()


def of_cell(lock):
    def function():
        lock.acquire()
        try:
            waits()
        finally:
            lock.release()

    function()


def of_own_cell(lock):
    def function():
        return lock

    unused = 1
    lock.acquire()
    try:
        waits()
    finally:
        lock.release()


def of_condition():
    condition.acquire()
    try:
        waits()
    finally:
        condition.release()


def of_recursive():
    recursive.acquire()
    try:
        waits()
    finally:
        recursive.release()


def of_two(first, second):
    first.acquire()
    try:
        with second:
            waits()
    finally:
        first.release()


def of_none():
    """It has given the lock back in the block."""
    let_go.acquire()
    try:
        let_go.release()
        waits()
        let_go.acquire()
    finally:
        let_go.release()


def of_other():
    """It does not give the lock back."""
    try:
        waits()
    finally:
        others.locked()


def often(lock):
    """The handler has run often: the interpreter has adapted its code."""
    for n in range(100):
        try:
            lock.acquire()
            try:
                if n == 99:
                    waits()
                raise ValueError
            finally:
                lock.release()
        except ValueError:
            pass


local, attribute, cell, own_cell, first, second, adapted = [threading.Lock() for _ in range(7)]
server = Server()
server.inner = Server()
server.inner.lock = attribute
told = {}
for function, args, locks in (
        (of_global, (), [shared]), (of_local, (local,), [local]), (of_attribute, (server,), [attribute]), (of_class, (server,), [Server.in_class]),
        (of_cell, (cell,), [cell]), (of_own_cell, (own_cell,), [own_cell]), (of_condition, (), [condition._lock]), (of_recursive, (), [recursive]),
        (of_two, (first, second), [first, second]), (of_none, (), []), (of_other, (), []), (often, (adapted,), [adapted])):
    told[function.__name__] = sorted(map(id, locks))
    threading.Thread(target=function, args=args, name=function.__name__, daemon=True).start()
while entered.n_waiting or not entered.broken and sum(lock.locked() for lock in (shared, local, attribute, cell, own_cell, first, second, adapted)) < 8:
    pass
print("ready")
print(json.dumps(told), flush=True)
done.wait()
