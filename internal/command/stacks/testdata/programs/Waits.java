import java.util.concurrent.locks.LockSupport;

/** Threads that wait in native methods, which are interpreted, under compiled code; one spins. */
public class Waits {
    interface Step { int run(int n, Step[] all, int kind) throws Exception; }

    static volatile boolean warm = true;

    static int end(int kind) throws Exception {
        if (warm) {
            return kind;
        }
        switch (kind) {
        case 0:
            Thread.sleep(Long.MAX_VALUE);
        case 1:
            synchronized (Waits.class) {
                while (true) {
                    Waits.class.wait();
                }
            }
        case 2:
            while (true) {
                LockSupport.park();
            }
        default:
            for (;;) {
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Step[] all = new Step[8];
        all[0] = (n, a, kind) -> n == 0 ? end(kind) : a[n % 8].run(n - 1, a, kind) + 1;
        all[1] = (n, a, kind) -> {
            int sum = 0;
            for (int i = 0; i < 3; i++) {
                sum += i * n;
            }
            return n == 0 ? end(kind) : a[n % 8].run(n - 1, a, kind) + sum;
        };
        for (int i = 2; i < all.length; i++) {
            int more = i;
            all[i] = (n, a, kind) -> n == 0 ? end(kind) : a[n % 8].run(n - 1, a, kind) + more;
        }
        for (int i = 0; i < 20_000; i++) {
            all[i % 8].run(60, all, i);
        }
        warm = false;
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            int kind = i == 7 ? 3 : i % 3;
            int depth = 20 + i % 60;
            new Thread(() -> {
                try {
                    all[depth % 8].run(depth, all, kind);
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            }).start();
        }
    }
}
