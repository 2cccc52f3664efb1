// A connection of the agent's, and when its turn goes on: at once, or in its time.
#pragma once

#include "frames.h"

enum state { HTTP, WEBSOCKET, SSE, GIVEN_AWAY };
enum { NOWHERE = -1 };

struct connection {
  int fd;
  enum state state;
  enum wire wire;
  struct buffer in, out;
  bool is_stuck;  // the socket takes no more: waits for EPOLLOUT
  long burst_at;  // place among the bursting, or NOWHERE
  long heap_at;
  struct turn turn;
  struct connection *next, **back;  // among all
};

static struct connection *all;

// Those whose turn is as fast as it can be.
static struct connection **bursting;
static long bursts, burst_room;

// Those whose turn is paced, the next one due first.
static struct connection **heap;
static long heaped, heap_room;

static void grow(struct connection ***list, long count, long *room) {
  if (count < *room) return;
  *room = *room ? 2 * *room : 1024;
  *list = must(realloc(*list, (size_t)*room * sizeof **list));
}

static void start_bursting(struct connection *c) {
  if (c->burst_at != NOWHERE) return;
  grow(&bursting, bursts, &burst_room);
  c->burst_at = bursts;
  bursting[bursts++] = c;
}

static void stop_bursting(struct connection *c) {
  if (c->burst_at == NOWHERE) return;
  struct connection *last = bursting[--bursts];
  bursting[c->burst_at] = last;
  last->burst_at = c->burst_at;
  c->burst_at = NOWHERE;
}

static void place(struct connection *c, long at) {
  heap[at] = c;
  c->heap_at = at;
}

static void sift(struct connection *c, long at) {
  while (at && heap[(at - 1) / 2]->turn.due_ns > c->turn.due_ns) {
    place(heap[(at - 1) / 2], at);
    at = (at - 1) / 2;
  }
  for (;;) {
    long child = 2 * at + 1;
    if (child >= heaped) break;
    if (child + 1 < heaped && heap[child + 1]->turn.due_ns < heap[child]->turn.due_ns) child++;
    if (heap[child]->turn.due_ns >= c->turn.due_ns) break;
    place(heap[child], at);
    at = child;
  }
  place(c, at);
}

static void pace(struct connection *c) {
  grow(&heap, heaped, &heap_room);
  sift(c, heaped++);
}

static void stop_pacing(struct connection *c) {
  if (c->heap_at == NOWHERE) return;
  long at = c->heap_at;
  struct connection *last = heap[--heaped];
  c->heap_at = NOWHERE;
  if (last != c) sift(last, at);
}
