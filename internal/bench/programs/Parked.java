import java.util.concurrent.locks.LockSupport;

/** Threads that wait, a few calls deep. Writes a line when they do. */
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
        for (int i = 0; i < 20; i++) {
            Thread t = new Thread(() -> park(30));
            t.start();
            while (t.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        System.out.println("ready");
    }
}
