import java.util.concurrent.locks.LockSupport;

/** Parked [THREADS [CALLS]]: threads that wait, so many calls deep. Writes a line when they do. */
public class Parked {
    static int park(int depth) {
        if (depth > 0) {
            return park(depth - 1) + 1;
        }
        while (true) {
            LockSupport.park();
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 20;
        int calls = args.length > 1 ? Integer.parseInt(args[1]) : 30;
        for (int i = 0; i < threads; i++) {
            Thread t = new Thread(() -> park(calls));
            t.start();
            while (t.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        System.out.println("ready");
    }
}
