// blocks: takes and frees blocks of memory, in the main thread and in two others, and writes each
// block's address, and whether it is in use. A block that is free has no other one in its place.
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCKS = 3000 };

struct block { char *at; size_t size; int used; };

static void take(struct block *list, unsigned seed) {
    for (int i = 0; i < BLOCKS; i++) {
        static const size_t sizes[] = {24, 100, 600, 1500, 5000, 70000};
        struct block *b = &list[i];
        b->size = 1 + rand_r(&seed) % sizes[rand_r(&seed) % 6];
        b->at = malloc(b->size);
        b->used = 1;
        struct block *old = &list[rand_r(&seed) % (i + 1)];
        if (rand_r(&seed) % 8 < 5 && old->used) {
            free(old->at);
            old->used = 0;
        }
    }
    for (int i = 0; i < BLOCKS; i++)
        if (list[i].used && rand_r(&seed) % 2) {
            free(list[i].at);
            list[i].used = 0;
        }
}

static struct block blocks[3][BLOCKS];

/* Threads share the memory of one that has ended. */
static int taken(struct block *b) {
    for (int n = 0; n < 3; n++)
        for (struct block *o = blocks[n]; o < blocks[n] + BLOCKS; o++)
            if (o->used && b->at >= o->at && b->at < o->at + malloc_usable_size(o->at))
                return 1;
    return 0;
}

static void *run(void *arg) {
    int n = *(int *)arg;
    take(blocks[n], n + 1);
    return NULL;
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("ready");
    for (int n = 0; n < 3; n++) {
        pthread_t t;
        if (n == 0)
            run(&n);
        else if (pthread_create(&t, NULL, run, &n) == 0)
            pthread_join(t, NULL);
    }
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < BLOCKS; i++)
            if (blocks[n][i].used || !taken(&blocks[n][i]))
                printf("%p %d\n", (void *)blocks[n][i].at, blocks[n][i].used);
    puts("end");
    for (;;)
        pause();
}
