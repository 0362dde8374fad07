/** Two classes whose initializers wait for each other, and a thread that waits for one of them. */
public class Classes {
    static class First {
        static {
            both("first", () -> new Second());
        }
    }

    static class Second {
        static {
            both("second", () -> new First());
        }
    }

    static int begun;

    /** Goes on when both initializers have begun. */
    static void both(String name, Runnable then) {
        synchronized (Classes.class) {
            begun++;
            Classes.class.notifyAll();
            while (begun < 2) {
                try {
                    Classes.class.wait();
                } catch (InterruptedException e) {
                    throw new RuntimeException(e);
                }
            }
        }
        then.run();
    }

    /** Waits on an array that is like the ones by which the virtual machine has threads wait. */
    static void array() {
        int[] empty = new int[0];
        synchronized (empty) {
            try {
                empty.wait();
            } catch (InterruptedException e) {
                throw new RuntimeException(e);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new Thread(First::new, "first").start();
        new Thread(Second::new, "second").start();
        new Thread(Classes::array, "array").start();
        synchronized (Classes.class) {
            while (begun < 2) {
                Classes.class.wait();
            }
        }
        new Thread(First::new, "third").start();
        System.out.println("ready");
    }
}
