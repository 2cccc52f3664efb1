// What the client expects of one stream, and what it finds: every delta once, in order, whole.
#pragma once

#include "common.h"

struct stream {
  const struct plan *plan;
  bool is_frames;  // the agent's frames as they are, one behind the other, in place of records
  long deltas, tools;
  bool is_finished, is_done;
  const char *fault;
  struct buffer tail;  // the line, or frame, that is not whole yet
};

// Told of each delta: its number and when it was written.
typedef void heard(void *context, long number, uint64_t written_ns);

static void begin(struct stream *s, const struct plan *plan, bool is_frames) {
  struct buffer tail = s->tail;
  tail.start = tail.end = 0;
  *s = (struct stream){.plan = plan, .is_frames = is_frames, .tail = tail};
}

static void wrong(struct stream *s, const char *fault) {
  if (!s->fault) s->fault = fault;
}

static inline uint64_t hexadecimal(const char *at, int digits) {
  uint64_t value = 0;
  for (int i = 0; i < digits; i++) {
    char c = at[i];
    value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return value;
}

// A delta's text, `length` bytes.
static void take_delta(struct stream *s, const char *text, size_t length, heard *hear, void *context) {
  if (length != (size_t)s->plan->size || text[0] != 'T') {
    wrong(s, "a delta is cut or merged");
    return;
  }
  if (hexadecimal(text + 17, 3) != (uint64_t)(s->deltas & 0xfff)) wrong(s, "out of order");
  if (s->is_finished) wrong(s, "a delta behind the end");
  hear(context, s->deltas++, hexadecimal(text + 1, 16));
}

static inline bool begins(const char *at, size_t length, const char *with) {
  size_t count = strlen(with);
  return length >= count && !memcmp(at, with, count);
}

#define DELTA "\"delta\":\""

static void take_line(struct stream *s, const char *line, size_t length, heard *hear, void *context) {
  if (length && line[length - 1] == '\r') length--;
  if (!begins(line, length, "data: ")) return;
  if (s->is_done) wrong(s, "a record behind [DONE]");
  line += 6, length -= 6;
  if (begins(line, length, "{\"type\":\"text-delta\"")) {
    const char *at = memmem(line, length, DELTA, strlen(DELTA)), *end = line + length;
    if (!at || length < strlen(DELTA) + 2 || end[-1] != '}' || end[-2] != '"') {
      wrong(s, "a record that is none");
      return;
    }
    at += strlen(DELTA);
    take_delta(s, at, (size_t)(end - 2 - at), hear, context);
  } else if (begins(line, length, "{\"type\":\"finish\"")) {
    if (s->is_finished) wrong(s, "two ends");
    s->is_finished = true;
  } else if (begins(line, length, "[DONE]")) {
    s->is_done = true;
  } else if (begins(line, length, "{\"type\":\"error\"")) {
    wrong(s, "an error");
  } else if (begins(line, length, "{\"type\":\"tool-output-available\"")) {
    s->tools++;
  }
}

// Takes the lines of `data`. Returns how many bytes of whole lines there were.
static size_t take_lines(struct stream *s, const char *data, size_t length, heard *hear, void *context) {
  const char *at = data, *end = data + length, *newline;
  while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
    take_line(s, at, (size_t)(newline - at), hear, context);
    at = newline + 1;
  }
  return (size_t)(at - data);
}

// The same for frames, which have no end but the next one's beginning.
static size_t take_frames(struct stream *s, const char *data, size_t length, heard *hear, void *context) {
  static const char end_mark[] = "message.finalize";
  const char *at = data, *end = data + length, *delta;
  size_t size = (size_t)s->plan->size;
  while ((delta = memmem(at, (size_t)(end - at), DELTA, strlen(DELTA)))) {
    const char *text = delta + strlen(DELTA);
    if ((size_t)(end - text) < size + 2) return (size_t)(delta - data);
    bool is_whole = text[size] == '"' && text[size + 1] == '}';
    take_delta(s, text, is_whole ? size : 0, hear, context);
    at = text + (is_whole ? size + 2 : 0);
  }
  if (memmem(at, (size_t)(end - at), end_mark, sizeof end_mark - 1)) s->is_finished = s->is_done = true;
  size_t keep = sizeof end_mark + strlen(DELTA);
  return (size_t)(end - at) > keep ? length - keep : (size_t)(at - data);
}

static void feed(struct stream *s, const char *data, size_t length, heard *hear, void *context) {
  size_t (*take_whole)(struct stream *, const char *, size_t, heard *, void *) =
      s->is_frames ? take_frames : take_lines;
  if (waiting(&s->tail)) {
    put(&s->tail, data, length);
    take(&s->tail, take_whole(s, s->tail.data + s->tail.start, waiting(&s->tail), hear, context));
  } else {
    size_t taken = take_whole(s, data, length, hear, context);
    put(&s->tail, data + taken, length - taken);
  }
}

// What was wrong with it, now that it is over. NULL: nothing.
static const char *verdict(struct stream *s) {
  if (s->fault) return s->fault;
  if (s->deltas != s->plan->deltas) return "deltas are missing, or too many";
  if (!s->is_finished) return "no finish";
  if (!s->is_done) return "no [DONE]";
  if (s->tools != s->plan->tools) return "tools are missing";
  return NULL;
}
