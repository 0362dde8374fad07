/*
 * Has values for some keys of pthread_key_create, of two tables of keys, in two threads. It prints
 * "ready", then for each thread its ID, and twice a key and its value.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_key_t keys[50];
static pthread_barrier_t barrier;
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused)
{
	int here;
	pthread_setspecific(keys[3], &here);
	pthread_setspecific(keys[45], (char *)&here + 1);
	pthread_mutex_lock(&printing);
	printf("%ld %u %p %u %p\n", (long)syscall(SYS_gettid), keys[3], pthread_getspecific(keys[3]), keys[45], pthread_getspecific(keys[45]));
	fflush(stdout);
	pthread_mutex_unlock(&printing);
	pthread_barrier_wait(&barrier);
	return unused;
}

int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 50; i++)
		pthread_key_create(&keys[i], NULL);
	pthread_barrier_init(&barrier, NULL, 3);
	puts("ready");
	fflush(stdout);
	pthread_create(&thread, NULL, run, NULL);
	run(NULL);
	return 0;
}
