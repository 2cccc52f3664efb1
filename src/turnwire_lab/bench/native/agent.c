// A scripted agent that outruns a gateway: one thread, epoll.
//
//   agent PORT [SOCKET]   0: any; the port it listens on is its first line
//
// A handshake whose path has `/hostile-` is handed on, head and connection, to the datagram socket
// at the path SOCKET: whoever reads there is the agent of that session.
//
// WebSocket under any path: the `v2` wire, or `session-agent` or `acp` where the path says so. A
// prompt whose text is a plan (common.h) starts a turn. Plain HTTP: POST /sse streams a turn as
// finished records, POST /ag-ui or /openai-chat as events of that wire; POST /go lets turns that are
// held go on; GET /stats tells what happened so far. A session `history-N` has an `init` of N messages.
#define _GNU_SOURCE
#include <sys/un.h>

#include "connection.h"

enum { EVENTS = 512, IN_MAX_BYTES = 1 << 20, HISTORY_MAX = 100000 };

static struct {
  unsigned long long sockets, open, held, deltas, turns, lost, aborts;
} stats;

static int poller;
static const char *hand_on_to;

static void watch(struct connection *c, bool is_stuck) {
  if (c->is_stuck == is_stuck) return;
  c->is_stuck = is_stuck;
  struct epoll_event event = {EPOLLIN | (is_stuck ? EPOLLOUT : 0), {.ptr = c}};
  epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
}

// False: the connection is of no more use.
static bool flush(struct connection *c) {
  while (waiting(&c->out)) {
    ssize_t sent = send(c->fd, c->out.data + c->out.start, waiting(&c->out), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN) return false;
      watch(c, true);
      return true;
    }
    take(&c->out, (size_t)sent);
  }
  watch(c, false);
  return true;
}

static void end_turn(struct connection *c) {
  if (c->turn.is_held) stats.held--;
  c->turn.is_open = c->turn.is_held = false;
  stats.open--;
  stop_bursting(c);
  stop_pacing(c);
}

static void close_connection(struct connection *c) {
  if (c->turn.is_open) {
    end_turn(c);
    stats.lost++;
  }
  if (c->state == WEBSOCKET) stats.sockets--;
  *c->back = c->next;
  if (c->next) c->next->back = c->back;
  close(c->fd);
  release(&c->in);
  release(&c->out);
  free(c);
}

// The turn goes on: a delta later, or as soon as the socket takes more.
static void go_on(struct connection *c) {
  struct turn *turn = &c->turn;
  if (turn->plan.rate > 0) {
    turn->due_ns = now_ns() + (uint64_t)(drand48() * (double)turn->period_ns);
    pace(c);
  } else {
    start_bursting(c);
  }
}

static void delta(struct connection *c, uint64_t now) {
  tell_delta(&c->out, &c->turn, now);
  stats.deltas++;
}

static void finish(struct connection *c) {
  tell_end(&c->out, &c->turn);
  end_turn(c);
  stats.turns++;
  if (c->state == SSE) c->state = HTTP;
}

static void start_turn(struct connection *c, const char *json, size_t length) {
  static unsigned long long count;
  struct turn *turn = &c->turn;
  *turn = (struct turn){.wire = c->wire, .request = request_of(json, length)};
  if (!read_plan(json, length, &turn->plan)) return;
  snprintf(turn->id, sizeof turn->id, "turn-%08llx", ++count);
  field(json, length, c->wire == AG_UI ? "runId" : "promptId", turn->prompt_id,
        sizeof turn->prompt_id);
  field(json, length, c->wire == ACP ? "sessionId" : "threadId", turn->thread_id,
        sizeof turn->thread_id);
  field(json, length, "content", turn->text, sizeof turn->text);
  turn->is_open = true;
  stats.open++;
  if (turn->plan.rate > 0) turn->period_ns = (uint64_t)(1e9 / turn->plan.rate);
  tell_start(&c->out, turn);
  if (turn->plan.hold) {
    delta(c, now_ns());
    turn->is_held = true;
    stats.held++;
  } else {
    go_on(c);
  }
}

static void release_held(void) {
  for (struct connection *c = all; c; c = c->next)
    if (c->turn.is_held) {
      c->turn.is_held = false;
      stats.held--;
      go_on(c);
    }
}

static void answer(struct connection *c, const char *body) {
  print(&c->out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        strlen(body), body);
}

static void respond(struct connection *c, const char *head, const char *body, size_t length) {
  char said[256];
  if (!strncmp(head, "GET /stats", 10)) {
    snprintf(said, sizeof said,
             "{\"sockets\":%llu,\"open\":%llu,\"held\":%llu,\"deltas\":%llu,\"turns\":%llu,"
             "\"lost\":%llu,\"aborts\":%llu}",
             stats.sockets, stats.open, stats.held, stats.deltas, stats.turns, stats.lost,
             stats.aborts);
    answer(c, said);
  } else if (!strncmp(head, "POST /go", 8)) {
    release_held();
    answer(c, "{}");
  } else {
    static const char stream[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    put(&c->out, stream, sizeof stream - 1);
    c->state = SSE;
    c->wire = strstr(head, "/ag-ui")         ? AG_UI
              : strstr(head, "/openai-chat") ? OPENAI_CHAT
                                             : READY_MADE;
    start_turn(c, body, length);
  }
}

// Give a connection away, with the head that it began with.
static void hand_on(struct connection *c, const char *head, size_t length) {
  static int sender = -1;
  if (sender < 0) sender = socket(AF_UNIX, SOCK_DGRAM, 0);
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%s", hand_on_to);
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec data = {(void *)head, length};
  struct msghdr message = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &data,
                           .msg_iovlen = 1, .msg_control = control.room,
                           .msg_controllen = sizeof control.room};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof c->fd);
  memcpy(CMSG_DATA(rights), &c->fd, sizeof c->fd);
  if (sendmsg(sender, &message, 0) < 0) perror("hand on");
  // Or its events would still come: it stays open, elsewhere.
  epoll_ctl(poller, EPOLL_CTL_DEL, c->fd, NULL);
  c->state = GIVEN_AWAY;
}

// One HTTP request. False: it is not all there.
static bool take_request(struct connection *c) {
  char *head = c->in.data + c->in.start;
  *reserve(&c->in, 1) = 0;
  head = c->in.data + c->in.start;
  char *end = strstr(head, "\r\n\r\n"), key[29];
  if (!end) return false;
  *end = 0;
  char *body = end + 4;
  if (hand_on_to && strstr(head, "/hostile-")) {
    hand_on(c, head, (size_t)(end - head));
    return true;
  }
  if (accept_key(head, key)) {
    const char *history = strstr(head, "/history-");
    bool offers = strcasestr(head, "sec-websocket-protocol:") != NULL;
    c->state = WEBSOCKET;
    c->wire = strstr(head, "/session-agent") ? SESSION_AGENT : strstr(head, "/acp/") ? ACP : V2;
    stats.sockets++;
    print(&c->out, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
          "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s\r\n", key,
          offers ? "Sec-WebSocket-Protocol: valet\r\n" : "");
    long messages = history ? atol(history + strlen("/history-")) : -1;
    take(&c->in, (size_t)(body - head));
    if (messages >= 0 && messages <= HISTORY_MAX)
      tell_history(&c->out, messages);
    else
      tell_hello(&c->out, c->wire);
    return true;
  }
  const char *said = strcasestr(head, "content-length:");
  size_t length = said ? strtoul(said + 15, NULL, 10) : 0;
  if (waiting(&c->in) < (size_t)(body - head) + length) {
    *end = '\r';
    return false;
  }
  respond(c, head, body, length);
  take(&c->in, (size_t)(body - head) + length);
  return true;
}

// One message of a gateway on the wire `acp`. A session that it knows goes on by `session/resume`.
static void take_message(struct connection *c, const char *json, size_t length) {
  static unsigned long long made;
  char method[32];
  long request = request_of(json, length);
  field(json, length, "method", method, sizeof method);
  if (!strcmp(method, "session/prompt")) {
    if (!c->turn.is_open) start_turn(c, json, length);
  } else if (!strcmp(method, "session/cancel")) {
    stats.aborts++;
    if (!c->turn.is_open) return;
    tell_stop(&c->out, &c->turn, "cancelled");
    end_turn(c);
  } else if (!strcmp(method, "initialize")) {
    tellf(&c->out, ACP, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"protocolVersion\":1,"
          "\"agentCapabilities\":{\"sessionCapabilities\":{\"resume\":{}}}}}", request);
  } else if (!strcmp(method, "session/new")) {
    tellf(&c->out, ACP, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"sessionId\":"
          "\"session-%08llx\"}}", request, ++made);
  } else if (!strcmp(method, "session/resume")) {
    tellf(&c->out, ACP, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{}}", request);
  }
}

// One frame of a gateway. False: the connection is of no more use.
static bool take_frame(struct connection *c, const struct frame *frame) {
  switch (frame->opcode) {
    case TEXT:
      if (c->wire == ACP) {
        take_message(c, frame->data, frame->length);
      } else if (memmem(frame->data, frame->length, "\"type\":\"abort\"", 14)) {
        stats.aborts++;
        if (c->turn.is_open) end_turn(c);
      } else if (!c->turn.is_open) {
        start_turn(c, frame->data, frame->length);
      }
      return true;
    case PING:
      put_frame_head(&c->out, PONG, frame->length);
      put(&c->out, frame->data, frame->length);
      return true;
    case CLOSE:
      put_frame_head(&c->out, CLOSE, 2);
      put(&c->out, "\x03\xe8", 2);
      flush(c);
      return false;
    default:
      return frame->opcode == PONG;
  }
}

static bool take_input(struct connection *c) {
  for (;;) {
    if (c->state == GIVEN_AWAY) return false;
    if (c->state == SSE) return true;  // what comes behind a request waits for its end
    if (c->state == HTTP) {
      if (!waiting(&c->in) || !take_request(c)) return true;
      continue;
    }
    struct frame frame;
    switch (next_frame(&c->in, &frame)) {
      case MORE:
        return true;
      case BROKEN:
        return false;
      case FRAME:
        if (!take_frame(c, &frame)) return false;
        take(&c->in, frame.whole);
    }
  }
}

static bool readable(struct connection *c) {
  char *at = reserve(&c->in, 4096);
  ssize_t got = recv(c->fd, at, 4095, 0);
  if (got < 0) return errno == EAGAIN;
  c->in.end += (size_t)got;
  return got && waiting(&c->in) < IN_MAX_BYTES && take_input(c) && (c->is_stuck || flush(c));
}

static bool writable(struct connection *c) {
  if (!flush(c)) return false;
  if (!c->is_stuck && c->turn.is_open && !c->turn.is_held && c->turn.plan.rate <= 0)
    start_bursting(c);
  return true;
}

static void accept_all(int listener) {
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    struct connection *c = must(calloc(1, sizeof *c));
    without_delay(fd);
    c->fd = fd;
    c->burst_at = c->heap_at = NOWHERE;
    c->next = all;
    c->back = &all;
    if (all) all->back = &c->next;
    all = c;
    struct epoll_event event = {EPOLLIN, {.ptr = c}};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  }
}

// One write of every turn that bursts. A socket that fails is closed when epoll says so too.
static void burst_once(void) {
  for (long i = bursts - 1; i >= 0; i--) {
    struct connection *c = bursting[i];
    struct turn *turn = &c->turn;
    uint64_t now = now_ns();
    for (long j = 0; j < turn->plan.batch && turn->sent < turn->plan.deltas; j++) delta(c, now);
    if (turn->sent >= turn->plan.deltas) finish(c);
    if (!flush(c)) {
      shutdown(c->fd, SHUT_RDWR);
      stop_bursting(c);
    } else if (c->is_stuck) {
      stop_bursting(c);
    }
  }
}

static void tell_due(void) {
  uint64_t now = now_ns();
  while (heaped && heap[0]->turn.due_ns <= now) {
    struct connection *c = heap[0];
    if (c->turn.sent < c->turn.plan.deltas) {
      delta(c, now_ns());
      c->turn.due_ns += c->turn.period_ns;
      sift(c, 0);
    } else {
      finish(c);
    }
    if (!c->is_stuck && !flush(c)) shutdown(c->fd, SHUT_RDWR);
  }
}

int main(int count, char **arguments) {
  if (count != 2 && count != 3) {
    fprintf(stderr, "usage: agent PORT [SOCKET]\n");
    return 2;
  }
  if (count == 3) hand_on_to = arguments[2];
  signal(SIGPIPE, SIG_IGN);
  all_descriptors();
  for (size_t i = 0; i < sizeof filler; i++) filler[i] = i % 5 == 4 ? ' ' : 'a';
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = loopback(atoi(arguments[1]));
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096))
    give_up("listen");
  getsockname(listener, (struct sockaddr *)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  poller = epoll_create1(0);
  struct epoll_event event = {EPOLLIN, {.ptr = NULL}}, events[EVENTS];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    struct timespec wait = {0, 0}, *patience = NULL;
    if (bursts) {
      patience = &wait;
    } else if (heaped) {
      uint64_t now = now_ns(), due = heap[0]->turn.due_ns, left = due > now ? due - now : 0;
      wait = (struct timespec){(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
      patience = &wait;
    }
    int ready = epoll_pwait2(poller, events, EVENTS, patience, NULL);
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (!c) {
        accept_all(listener);
      } else if ((events[i].events & ~(uint32_t)EPOLLOUT && !readable(c)) ||
                 (events[i].events & EPOLLOUT && !writable(c))) {
        close_connection(c);
      }
    }
    burst_once();
    tell_due();
  }
}
