import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads in all states, with locks of both kinds, among them two deadlocks. */
public class Locks {
    static final Object A = new Object(), B = new Object();
    static final ReentrantLock L = new ReentrantLock(), M = new ReentrantLock();

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

    static void both(Object first, Object second) {
        synchronized (first) {
            sleep(300);
            synchronized (second) {
                sleep(300);
            }
        }
    }

    static void both(ReentrantLock first, ReentrantLock second) {
        first.lock();
        sleep(300);
        second.lock();
    }

    static void deep(int n) {
        if (n > 0) {
            deep(n - 1);
            return;
        }
        synchronized (Locks.class) {
            synchronized (L) {
                synchronized (L) {
                    sleep(Integer.MAX_VALUE);
                }
            }
        }
    }

    static void start(String name, Runnable r) {
        Thread t = new Thread(r, name);
        t.setDaemon(name.startsWith("d"));
        t.start();
    }

    public static void main(String[] args) {
        start("monitors", () -> both(A, B));
        start("d\u00e6mon \u5bff of monitors", () -> both(B, A));
        start("locks", () -> both(L, M));
        start("locks, the other way", () -> both(M, L));
        start("waits", () -> await(new ReentrantLock(), 0));
        start("waits for a time", () -> await("text", Integer.MAX_VALUE));
        start("parked", LockSupport::park);
        start("parked for a time", () -> LockSupport.parkNanos("blocker", Long.MAX_VALUE));
        start("holds", () -> deep(5));
        start("wants what another holds", () -> await(Locks.class, 0));
        start("spins", () -> {
            for (long n = 0; ; n++) {
                if (n < 0) {
                    System.out.println(n);
                }
            }
        });
        sleep(1000);
        System.out.println("ready");
        sleep(Integer.MAX_VALUE);
    }
}
