/** Virtual threads that let others run all the time, each from within many calls. */
public class Yields {
    static void deep(int n) {
        if (n > 0) {
            deep(n - 1);
        }
        Thread.yield();
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            Thread.ofVirtual().start(() -> {
                while (true) {
                    deep(20);
                }
            });
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
