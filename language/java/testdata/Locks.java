import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads in all states, with locks of both kinds, among them two deadlocks. */
public class Locks {
    static final Object A = new Object(), B = new Object();
    static final ReentrantLock L = new ReentrantLock(), M = new ReentrantLock();
    static final CountDownLatch HELD = new CountDownLatch(1);

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    static void await(Object o, long millis) {
        synchronized (o) {
            try {
                o.wait(millis);
            } catch (InterruptedException e) {
                throw new RuntimeException(e);
            }
        }
    }

    static void meet(CyclicBarrier other) {
        try {
            other.await();
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    static void both(Object first, Object second, CyclicBarrier other) {
        synchronized (first) {
            meet(other);
            synchronized (second) {
                meet(other);
            }
        }
    }

    static void both(ReentrantLock first, ReentrantLock second, CyclicBarrier other) {
        first.lock();
        meet(other);
        second.lock();
    }

    static void deep(int n) {
        if (n > 0) {
            deep(n - 1);
            return;
        }
        synchronized (Locks.class) {
            HELD.countDown();
            synchronized (L) {
                synchronized (L) {
                    sleep(Integer.MAX_VALUE);
                }
            }
        }
    }

    /** Locks itself in each frame, and another object in all frames but the innermost. */
    synchronized void inEach(Object o, int n) {
        if (n == 0) {
            sleep(Integer.MAX_VALUE);
            return;
        }
        synchronized (o) {
            inEach(o, n - 1);
        }
    }

    static void start(String name, Runnable r) {
        Thread t = new Thread(r, name);
        t.setDaemon(name.startsWith("d"));
        t.start();
    }

    public static void main(String[] args) {
        CyclicBarrier monitors = new CyclicBarrier(2), locks = new CyclicBarrier(2);
        start("monitors", () -> both(A, B, monitors));
        start("d\u00e6mon \u5bff of monitors", () -> both(B, A, monitors));
        start("locks", () -> both(L, M, locks));
        start("locks, the other way", () -> both(M, L, locks));
        start("waits", () -> await(new ReentrantLock(), 0));
        start("waits for a time", () -> await("text", Integer.MAX_VALUE));
        start("parked", LockSupport::park);
        start("parked for a time", () -> LockSupport.parkNanos("blocker", Long.MAX_VALUE));
        start("holds", () -> deep(5));
        start("holds in many frames", () -> {
            synchronized (new int[1]) {
                new Locks().inEach(new Object(), 4);
            }
        });
        start("wants what another holds", () -> {
            try {
                HELD.await();
            } catch (InterruptedException e) {
                throw new RuntimeException(e);
            }
            await(Locks.class, 0);
        });
        start("spins", () -> {
            for (long n = 0; ; n++) {
                if (n < 0) {
                    System.out.println(n);
                }
            }
        });
        System.out.println("ready");
        sleep(Integer.MAX_VALUE);
    }
}
