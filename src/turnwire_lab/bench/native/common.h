// What the agent and the client share: the clock, growing buffers, sockets, the plan of a turn.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline _Noreturn void give_up(const char *what) {
  perror(what);
  exit(1);
}

static inline void *must(void *memory) {
  if (!memory) give_up("memory");
  return memory;
}

// Bytes from `start` to `end` wait to be taken; what was taken is reused once all was.
struct buffer {
  char *data;
  size_t start, end, capacity;
};

static inline size_t waiting(const struct buffer *b) { return b->end - b->start; }

// Room for `bytes` more behind `end`.
static inline char *reserve(struct buffer *b, size_t bytes) {
  if (b->start == b->end) b->start = b->end = 0;
  if (b->end + bytes > b->capacity) {
    if (b->start) {
      memmove(b->data, b->data + b->start, waiting(b));
      b->end -= b->start;
      b->start = 0;
    }
    if (b->end + bytes > b->capacity) {
      b->capacity = 2 * (b->end + bytes);
      b->data = must(realloc(b->data, b->capacity));
    }
  }
  return b->data + b->end;
}

static inline void put(struct buffer *b, const void *bytes, size_t count) {
  if (!count) return;
  memcpy(reserve(b, count), bytes, count);
  b->end += count;
}

__attribute__((format(printf, 2, 3)))
static inline void print(struct buffer *b, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *at = reserve(b, (size_t)length + 1);
  va_start(arguments, format);
  vsnprintf(at, (size_t)length + 1, format, arguments);
  va_end(arguments);
  b->end += (size_t)length;
}

static inline void take(struct buffer *b, size_t count) { b->start += count; }

static inline void release(struct buffer *b) {
  free(b->data);
  *b = (struct buffer){0};
}

static inline void without_delay(int fd) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static inline struct sockaddr_in loopback(int port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET,
      .sin_port = htons((uint16_t)port),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
  };
}

static inline void all_descriptors(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// A turn's plan stands in the text of its prompt: `bench n=100 s=20 r=50`.
// n: deltas; s: bytes of each; r: deltas a second, 0 as fast as they go; b: frames a write then;
// hold: wait for POST /go after the first delta; spellings: frames that carry each delta; tools: calls;
// output: bytes of the output of each call;
// noise: bytes beside each delta that no client is shown, on a wire that has such.
#define MARK "bench "

enum { SIZE_MAX_BYTES = 1 << 20, HEAD_BYTES = 20 };

struct plan {
  long deltas, size, batch, spellings, tools, output, noise;
  double rate;
  bool hold;
};

static inline double word(const char *text, const char *end, const char *name, double otherwise) {
  size_t length = strlen(name);
  for (const char *at = text; at + length < end; at++)
    if (at[-1] == ' ' && !memcmp(at, name, length)) return strtod(at + length, NULL);
  return otherwise;
}

// Every delta begins with T, the time of its write in 16 hex digits, and its number in 3: that is
// why it has at least 20 bytes. `text` must be followed by something that is no digit.
static inline bool read_plan(const char *text, size_t length, struct plan *plan) {
  const char *mark = memmem(text, length, MARK, strlen(MARK));
  if (!mark) return false;
  const char *from = mark + strlen(MARK), *end = text + length;
  const char *quote = memchr(from, '"', (size_t)(end - from));
  if (quote) end = quote;
  plan->deltas = (long)word(from, end, "n=", 10);
  plan->size = (long)word(from, end, "s=", HEAD_BYTES);
  plan->rate = word(from, end, "r=", 0);
  plan->batch = (long)word(from, end, "b=", 32);
  plan->spellings = (long)word(from, end, "spellings=", 1);
  plan->tools = (long)word(from, end, "tools=", 0);
  plan->output = (long)word(from, end, "output=", 0);
  plan->noise = (long)word(from, end, "noise=", 0);
  plan->hold = word(from, end, "hold=", 0) > 0;
  return plan->deltas > 0 && plan->size >= HEAD_BYTES && plan->size <= SIZE_MAX_BYTES &&
         plan->batch > 0 && plan->noise <= SIZE_MAX_BYTES && plan->output >= 0 &&
         plan->output <= SIZE_MAX_BYTES;
}
