/* The C half of delvecgo: see main.go. */
#ifndef DELVECGO_H
#define DELVECGO_H

/* Each calls two more functions, the last of which blocks in pause(2) or calls Go. */
long c_blocks(long n);     /* c_blocks > c_blocks_middle > c_blocks_inner > pause */
long c_calls_go(long n);   /* c_calls_go > c_calls_go_inner > goCallback */
long c_is_signalled(long n); /* c_is_signalled > c_signalled_inner > raise > handler > handler_inner > pause */
void c_starts_thread(long n); /* a new thread: thread_begins > thread_middle > goFromThread */

#endif
