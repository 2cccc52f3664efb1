// A load client: one thread, epoll. Opens streams, checks each one whole, prints one JSON line.
// On SIGUSR1 it prints how many deltas it has, in a line of its own.
//
//   client -p PORT -c STREAMS -t TOTAL -m PLAN [options]      (BENCH_TOKEN: the bearer token)
//
//   -p port   -P path, %d is the number of the connection   -m plan, as "n=100 s=20"
//   -c streams at once   -t streams in all
//   -F expect frames in place of records   -R microseconds between two openings
//   -T seconds that it may take   -q microseconds of sleep after each read   -B bytes of a read
#define _GNU_SOURCE
#include <getopt.h>

#include "response.h"
#include "stream.h"

enum { EVENTS = 1024, REQUEST_BYTES = 8192, FAULTS_SHOWN = 3 };

struct connection {
  int fd, number;
  bool is_connecting, is_used;
  uint64_t asked_ns;
  struct response response;
  struct stream stream;
};

static struct {
  int port, streams, total, ramp_us, nap_us;
  size_t read_bytes;
  double patience_s;
  bool is_frames;
  const char *path, *words;
  struct plan plan;
} options = {
    .streams = 1, .total = 1, .read_bytes = 262144, .patience_s = 60,
    .path = "/api/sessions/bench-%d/chat", .words = "n=10",
};

static int poller;
static const char *token;
static unsigned long long begun, over, wrong_streams, failed, refused, deltas, bytes, reads;
static uint64_t read_at_ns;
static volatile sig_atomic_t is_asked;

// Times in nanoseconds, at most 4 s each.
struct samples {
  uint32_t *values;
  size_t count, room;
};

static struct samples first_bytes, first_deltas, latencies;

// The 99th percentile of each so many latencies in a row: most of what else the machine has to do
// is in few of them.
enum { STRETCH = 500 };
static struct samples stretches;

static void add(struct samples *samples, uint64_t ns) {
  if (samples->count == samples->room) {
    samples->room = samples->room ? 2 * samples->room : 4096;
    samples->values = must(realloc(samples->values, samples->room * sizeof *samples->values));
  }
  samples->values[samples->count++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static void hear(void *context, long number, uint64_t written_ns) {
  struct connection *c = context;
  deltas++;
  if (!number) add(&first_deltas, read_at_ns - c->asked_ns);
  // The one before a hold came while streams were opened, which is another load.
  if (options.plan.rate > 0 && (number || !options.plan.hold))
    add(&latencies, read_at_ns > written_ns ? read_at_ns - written_ns : 0);
}

static void part(void *context, const char *data, size_t length) {
  struct connection *c = context;
  bytes += length;
  feed(&c->stream, data, length, hear, c);
}

static bool ask(struct connection *c) {
  char body[1024], path[256], request[REQUEST_BYTES];
  int body_length = snprintf(
      body, sizeof body,
      "{\"id\":\"bench\",\"trigger\":\"submit-message\",\"messages\":[{\"id\":\"m1\","
      "\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"" MARK "%s\"}]}]}",
      options.words);
  snprintf(path, sizeof path, options.path, c->number);
  int length = snprintf(
      request, sizeof request,
      "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
      "Content-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
      path, options.port, token, body_length, body);
  if (length >= REQUEST_BYTES) return false;
  begun++;
  expect(&c->response);
  begin(&c->stream, &options.plan, options.is_frames);
  return send(c->fd, request, (size_t)length, MSG_NOSIGNAL) == length;
}

static void leave(struct connection *c) {
  if (c->fd >= 0) close(c->fd);
  c->fd = -1;
}

static void connect_anew(struct connection *c) {
  struct sockaddr_in address = loopback(options.port);
  leave(c);
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (c->fd < 0) give_up("socket");
  without_delay(c->fd);
  c->is_connecting = true;
  c->is_used = false;
  c->asked_ns = now_ns();
  if (connect(c->fd, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS)
    give_up("connect");
  struct epoll_event event = {EPOLLIN | EPOLLOUT, {.ptr = c}};
  epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event);
}

static void show(const char *fault) {
  static int shown;
  if (shown++ < FAULTS_SHOWN) fprintf(stderr, "client: %s\n", fault);
}

static void next(struct connection *c, bool reuse) {
  if (begun >= (unsigned long long)options.total) {
    leave(c);
  } else if (!reuse) {
    connect_anew(c);
  } else {
    c->asked_ns = now_ns();
    if (!ask(c)) {
      begun--;
      connect_anew(c);
    }
  }
}

static void fail(struct connection *c, const char *why) {
  failed++;
  over++;
  show(why);
  leave(c);
}

static void connected(struct connection *c) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length);
  if (begun >= (unsigned long long)options.total) {
    leave(c);
    return;
  }
  c->is_connecting = false;
  struct epoll_event event = {EPOLLIN, {.ptr = c}};
  epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
  if (error || !ask(c)) {
    if (error) begun++;
    fail(c, "not connected");
  }
}

static void closed(struct connection *c) {
  if (c->response.is_first && c->is_used) {  // an idle connection that was closed meanwhile
    begun--;
    connect_anew(c);
    return;
  }
  fail(c, "cut off");
  if (begun < (unsigned long long)options.total) connect_anew(c);
}

static void readable(struct connection *c, char *room) {
  ssize_t got = recv(c->fd, room, options.read_bytes, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    closed(c);
    return;
  }
  read_at_ns = now_ns();
  reads++;
  if (c->response.is_first) add(&first_bytes, read_at_ns - c->asked_ns);
  take_response(&c->response, room, (size_t)got, part, c);
  if (options.nap_us) usleep((useconds_t)options.nap_us);
  if (c->response.at != OVER && c->response.at != BROKEN_OFF) return;
  over++;
  c->is_used = true;
  const char *fault = verdict(&c->stream);
  if (c->response.status != 200) {
    refused++;
    show(c->response.head);
  } else if (fault) {
    wrong_streams++;
    show(fault);
  }
  next(c, c->response.at == OVER && !c->response.closes);
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void add_stretches(void) {
  uint32_t stretch[STRETCH];
  for (size_t from = 0; from + STRETCH <= latencies.count; from += STRETCH) {
    memcpy(stretch, latencies.values + from, sizeof stretch);
    qsort(stretch, STRETCH, sizeof *stretch, ascending);
    add(&stretches, stretch[STRETCH * 99 / 100]);
  }
}

static void print_samples(const char *name, struct samples *samples) {
  static const struct {
    const char *name;
    double part;
  } points[] = {{"p1", .01}, {"p5", .05}, {"p10", .1}, {"p25", .25}, {"p50", .5}, {"p75", .75},
                {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p999", .999}, {"most", 1}};
  size_t count = samples->count;
  if (!count) {
    printf(",\"%s\":null", name);
    return;
  }
  qsort(samples->values, count, sizeof *samples->values, ascending);
  printf(",\"%s\":{\"count\":%zu", name, count);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    size_t at = (size_t)((double)count * points[i].part);
    printf(",\"%s\":%.1f", points[i].name, samples->values[at < count ? at : count - 1] / 1e3);
  }
  printf("}");
}

static void report(uint64_t from_ns, uint64_t to_ns) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  printf("{\"wall_s\":%.6f,\"streams\":%llu,\"wrong\":%llu,\"failed\":%llu,\"refused\":%llu,"
         "\"missing\":%llu,\"deltas\":%llu,\"bytes\":%llu,\"reads\":%llu,\"cpu_s\":%.6f",
         (double)(to_ns - from_ns) / 1e9, over, wrong_streams, failed, refused,
         (unsigned long long)options.total - over, deltas, bytes, reads, cpu_s);
  print_samples("first_byte_us", &first_bytes);
  print_samples("first_delta_us", &first_deltas);
  add_stretches();  // before the order is lost
  print_samples("latency_us", &latencies);
  print_samples("stretch_p99_us", &stretches);
  printf("}\n");
}

static void asked(int signal_number) {
  (void)signal_number;
  is_asked = 1;
}

static bool read_options(int count, char **arguments) {
  for (int option; (option = getopt(count, arguments, "p:P:c:t:m:FR:T:q:B:")) > 0;) switch (option) {
      case 'p': options.port = atoi(optarg); break;
      case 'P': options.path = optarg; break;
      case 'c': options.streams = atoi(optarg); break;
      case 't': options.total = atoi(optarg); break;
      case 'm': options.words = optarg; break;
      case 'F': options.is_frames = true; break;
      case 'R': options.ramp_us = atoi(optarg); break;
      case 'T': options.patience_s = atof(optarg); break;
      case 'q': options.nap_us = atoi(optarg); break;
      case 'B': options.read_bytes = strtoul(optarg, NULL, 10); break;
      default: return false;
    }
  char text[512];
  int length = snprintf(text, sizeof text, MARK "%s\"", options.words);
  return options.port && options.streams > 0 && options.total >= options.streams &&
         options.read_bytes && length < (int)sizeof text &&
         read_plan(text, (size_t)length, &options.plan);
}

int main(int count, char **arguments) {
  if (!read_options(count, arguments)) {
    fprintf(stderr, "usage: client -p PORT -c STREAMS -t TOTAL -m PLAN (see client.c)\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = asked}, NULL);
  all_descriptors();
  token = getenv("BENCH_TOKEN") ? getenv("BENCH_TOKEN") : "none";
  poller = epoll_create1(0);
  char *room = must(malloc(options.read_bytes));
  struct connection *all = must(calloc((size_t)options.streams, sizeof *all));
  struct epoll_event events[EVENTS];
  uint64_t from = now_ns(), to = from;
  uint64_t until = from + (uint64_t)(options.patience_s * 1e9);
  for (int opened = 0; over < (unsigned long long)options.total && now_ns() < until;) {
    uint64_t ramp_ns = (uint64_t)options.ramp_us * 1000u;
    for (int batch = 0; opened < options.streams && batch < 64; batch++, opened++) {
      if (ramp_ns && now_ns() < from + (uint64_t)opened * ramp_ns) break;
      all[opened].fd = -1;
      all[opened].number = opened;
      connect_anew(&all[opened]);
    }
    int patience_ms = opened == options.streams ? 100 : ramp_ns >= 1000000u ? 1 : 0;
    int ready = epoll_wait(poller, events, EVENTS, patience_ms);
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (c->fd < 0) continue;
      if (c->is_connecting)
        connected(c);
      else
        readable(c, room);
    }
    if (ready > 0) to = now_ns();
    if (is_asked) {
      is_asked = 0;
      printf("%llu\n", deltas);
      fflush(stdout);
    }
  }
  report(from, over == (unsigned long long)options.total ? to : now_ns());
  return 0;
}
