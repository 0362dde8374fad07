# tasks.py: tasks that wait for each other. It prints each with the frames of its coroutines, and
# who waits for it, and then waits for its input to end.
import asyncio
import json
import os
import sys


objects = {}  # for which tasks wait, by their names


async def leaf():
    await asyncio.sleep(1000)


async def middle(depth):
    if depth:
        await middle(depth - 1)
    else:
        await leaf()


async def queue(q):
    while True:
        await q.get()


async def generates():
    yield 1
    await leaf()
    yield 2


async def iterates():
    global generator
    generator = generates()
    async for _ in generator:
        pass


def plain():
    other = iter([1, 2])
    for x in other:  # this iterator is on the stack of values
        yield x


async def holds_generator():
    g = plain()
    for _ in g:  # a generator that is not awaited is the last value but one
        await leaf()


class Awaitable:
    def __await__(self):
        global wrapped
        wrapped = leaf()
        yield from wrapped.__await__()


async def by_class():
    await Awaitable()


async def shielded():
    await asyncio.shield(asyncio.create_task(leaf(), name="in shield"))


async def limited():
    await asyncio.wait_for(asyncio.create_task(leaf(), name="in wait_for"), 1000)


async def locks(lock):
    async with lock:
        pass


async def waits_for_event():
    await event.wait()


async def puts(where):
    await where.put(1)


async def notified(condition):
    async with condition:
        await condition.wait_for(lambda: False)


async def joins():
    await full.join()


async def takes(semaphore):
    await semaphore.acquire()


async def grouped():
    async with asyncio.TaskGroup() as group:
        group.create_task(middle(1), name="group-1")
        group.create_task(middle(2), name="group-2")


async def busy():
    async with asyncio.TaskGroup() as group:
        group.create_task(leaf(), name="of busy")
        await middle(3)  # it waits for this, and not yet for its group


async def gathers():
    def named(coroutine):
        return asyncio.create_task(coroutine, name="of gather")

    await asyncio.gather(named(middle(1)), asyncio.gather(named(leaf()), named(leaf())))


async def ends():
    return leaf


def frames(coroutine):
    list = []
    while coroutine is not None:
        for kind in ("cr", "gi", "ag"):
            if hasattr(coroutine, kind + "_frame"):
                frame = getattr(coroutine, kind + "_frame")
                list.append([coroutine.__qualname__, frame.f_code.co_filename, frame.f_lineno])
                coroutine = getattr(coroutine, kind + "_await", None) or getattr(coroutine, kind + "_yieldfrom", None)
                break
        else:
            # These do not tell what they drive.
            coroutine = {"async_generator_asend": generator, "coroutine_wrapper": wrapped}.get(type(coroutine).__name__)
    return list[::-1]


async def main():
    global event, full
    event, full, lock, condition = asyncio.Event(), asyncio.Queue(1), asyncio.Lock(), asyncio.Condition()
    queued, semaphore = asyncio.Queue(), asyncio.BoundedSemaphore(1)
    await lock.acquire()
    await semaphore.acquire()
    await full.put(0)
    objects.update({"queue": ["Queue", id(queued), "q"], "locks": ["Lock", id(lock), "lock"], "waits_for_event": ["Event", id(event), "event"],
        "puts": ["Queue", id(full), "where"], "joins": ["Queue", id(full), "full"], "notified": ["Condition", id(condition), "condition"],
        "takes": ["Semaphore", id(semaphore), "semaphore"]})
    made = [asyncio.create_task(f, name=f.__name__) for f in (
        queue(queued), holds_generator(), by_class(), shielded(), gathers(), leaf(), leaf(),
        limited(), locks(lock), waits_for_event(), puts(full), notified(condition), joins(), takes(semaphore))]
    made.append(asyncio.create_task(iterates(), name="iterates"))
    made.append(asyncio.create_task(ends(), name="ends"))
    if hasattr(asyncio, "TaskGroup"):
        made += [asyncio.create_task(f, name=f.__name__) for f in (grouped(), busy())]
    loop = asyncio.get_running_loop()
    loop.call_later(0.1, tell)
    loop.add_reader(0, loop.stop)
    await asyncio.wait([made[0]])


def tell():
    waits = {"group-1": "grouped", "group-2": "grouped", "of gather": "gathers",
        "queue": "Task-1", "in shield": "shielded", "in wait_for": "limited"}
    if sys.version_info >= (3, 14):  # a task notes who waits for it, also in a group whose block goes on
        waits.update({"of busy": "busy"})
    told = []
    for task in asyncio.all_tasks():
        name = task.get_name()
        thread = os.getpid() if sys.version_info >= (3, 11) else 0  # earlier, threads lack the system's ID
        told.append([name, frames(task.get_coro()), waits.get(name), thread, objects.get(name)])
    print("ready")
    print(json.dumps(told), flush=True)


try:
    asyncio.run(main())
except RuntimeError:
    pass  # the loop was stopped
