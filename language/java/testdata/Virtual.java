import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads in all states, of all kinds of containers. */
public class Virtual {
    static final Object HELD = new Object(), NOTIFIED = new Object();
    static final LinkedBlockingQueue<String> QUEUE = new LinkedBlockingQueue<>();
    static ExecutorService each, pool; // a dump has no threads of an executor that the program has forgotten

    /** A class whose initializer never ends: the virtual machine has called it, so that the thread stays with its carrier. */
    static class Pinned {
        static {
            LockSupport.park();
        }

        static void touch() {}
    }

    static long deep(int n, long a, long b, long c, long d, long e, long f, long g, double h, Runnable r) {
        if (n > 0) {
            return deep(n - 1, g, a, b, c, d, e, f, h + 1, r) + a;
        }
        r.run();
        return a + b + c + d + e + f + g + (long) h;
    }

    static void deep(int n, Runnable r) {
        if (deep(n, 1, 2, 3, 4, 5, 6, 7, 8, r) == -1) {
            System.out.println(n);
        }
    }

    static void await(Object o) {
        synchronized (o) {
            try {
                o.wait();
            } catch (InterruptedException e) {
                throw new RuntimeException(e);
            }
        }
    }

    static void hold(Object o) {
        synchronized (o) {
            sleep(Integer.MAX_VALUE);
        }
    }

    static void block(Object o) {
        synchronized (o) {
            System.out.println("never");
        }
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    static void spin() {
        for (long n = 0; ; n++) {
            if (n < 0) {
                System.out.println(n);
            }
        }
    }

    static Thread start(String name, Runnable r) {
        return Thread.ofVirtual().name(name).start(r);
    }

    public static void main(String[] args) {
        for (int i = 0; i < 4; i++) {
            int n = i * i * 20;
            start("parked, " + n, () -> deep(n, LockSupport::park));
        }
        for (int i = 0; i < 100; i++) {
            start("many", LockSupport::park);
        }
        start("parked for a time", () -> LockSupport.parkNanos("blocker", Long.MAX_VALUE));
        start("sl\u00e6ps", () -> sleep(Integer.MAX_VALUE));
        start("waits", () -> deep(3, () -> await(NOTIFIED)));
        start("holds", () -> hold(HELD));
        sleep(300);
        start("wants", () -> deep(2, () -> block(HELD)));
        start("pinned", () -> deep(5, Pinned::touch));
        // These come back to their frames, of which the innermost alone are on the stack then.
        LockSupport.unpark(start("comes back, waits", () -> deep(40, () -> {
            LockSupport.park();
            sleep(100);
            await(new Object());
        })));
        LockSupport.unpark(start("comes back, spins", () -> deep(40, () -> {
            LockSupport.park();
            sleep(100);
            spin();
        })));
        each = Executors.newVirtualThreadPerTaskExecutor();
        for (int i = 0; i < 3; i++) {
            each.submit(QUEUE::take);
        }
        var factory = Thread.ofVirtual().name("pooled").factory();
        pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.DAYS, new LinkedBlockingQueue<>(), factory);
        pool.submit(QUEUE::take);
        sleep(1500);
        System.out.println("ready");
        sleep(Integer.MAX_VALUE);
    }
}
