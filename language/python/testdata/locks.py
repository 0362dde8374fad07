"""Two threads in a deadlock of a lock and a recursive one, and threads that wait for locks of other names."""
import threading


class Account:
    def __init__(self):
        self.balance_lock = threading.RLock()


account = Account()
audit = threading.Lock()
both = threading.Barrier(2)
unused = threading.Lock()
shares = threading.Barrier(2)


def transfer(account):
    with unused:
        pass
    with account.balance_lock:
        with account.balance_lock:
            both.wait()
            with audit:
                raise SystemError


def report():
    with audit:
        both.wait()
        take(account.balance_lock)


def take(argument):
    argument.acquire()


def wait(event):
    event.wait(1000)


def join(thread):
    thread.join()


def passed():
    with unused:
        pass
    for _ in [1]:
        try:
            wait(threading.Event())
        finally:
            pass


def consumer(shared):
    condition = threading.Condition(shared)
    with shared:
        shares.wait()
        condition.wait()


def owner(shared):
    shares.wait()
    with shared:
        wait(threading.Event())


class Vault:
    def __init__(self):
        self.door = threading.RLock()


vault = Vault()
taken = threading.Event()


def early():
    taken.wait()
    vault.door.acquire()


def late():
    with vault.door:
        taken.set()
        wait(threading.Event())


def start(f, *args):
    thread = threading.Thread(target=f, args=args, name=f.__name__, daemon=True)
    thread.start()
    return thread


threads = [start(transfer, account), start(report), start(passed)]
one = threading.Lock()
start(consumer, one)
start(owner, one)
start(early)
start(late)
print("ready", flush=True)
join(threads[0])
