/** A thread that never comes to a safepoint, and others that wait for it: the virtual machine hangs. */
public class Hang {
    static volatile long sink;

    static void loop(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                sum += (long) i * j ^ sum >> 3;
            }
        }
        sink = sum;
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 30; i++) {
            loop(1000); // until it is compiled
        }
        System.out.println("ready");
        System.out.flush();
        new Thread(() -> loop(Integer.MAX_VALUE), "loops").start();
        new Thread(() -> {
            while (true) {
                sleep(10);
            }
        }, "sleeps").start();
        sleep(500);
        System.gc();
    }
}
