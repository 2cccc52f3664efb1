// What the agent tells of a turn, on each of its wires.
#pragma once

#include "websocket.h"

// The last one: finished records, for a plain proxy.
enum wire { V2, SESSION_AGENT, ACP, AG_UI, OPENAI_CHAT, READY_MADE };

// Whether what is told are events, without a name.
static inline bool is_event(enum wire wire) { return wire == AG_UI || wire == OPENAI_CHAT; }

// Whether a turn is the body of a response, in chunks, and not frames of a WebSocket.
static inline bool is_chunked(enum wire wire) { return wire == READY_MADE || is_event(wire); }

enum { ID_BYTES = 64, TEXT_BYTES = 512, HISTORY_TEXT_BYTES = 200 };

struct turn {
  enum wire wire;
  struct plan plan;
  long sent;  // deltas so far
  bool is_open, is_held;
  uint64_t due_ns, period_ns;
  char id[24];
  char prompt_id[ID_BYTES];  // on the wire AG_UI: the run's id
  char thread_id[ID_BYTES];  // on the wire ACP: the session's id
  long request;              // on the wire ACP: what the end of the turn answers
  char text[TEXT_BYTES];  // of the prompt, still escaped
  struct spelling {
    char before[192], after[96];
    size_t before_length, after_length;
  } spellings[2];
};

static char filler[SIZE_MAX_BYTES];

static void tell(struct buffer *out, enum wire wire, const char *text) {
  size_t length = strlen(text);
  if (is_event(wire)) {
    print(out, "%zx\r\ndata: %s\n\n\r\n", length + 8, text);
  } else if (wire == READY_MADE) {
    print(out, "%zx\r\n%s\r\n", length, text);
  } else {
    put_frame_head(out, TEXT, length);
    put(out, text, length);
  }
}

__attribute__((format(printf, 3, 4)))
static void tellf(struct buffer *out, enum wire wire, const char *format, ...) {
  char text[4 * TEXT_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tell(out, wire, text);
}

#define CHANNEL "\"channelType\":\"web\",\"channelId\":\"default\""

static void spell(struct spelling *spelling, const char *before, const char *id, const char *after) {
  spelling->before_length =
      (size_t)snprintf(spelling->before, sizeof spelling->before, before, id);
  spelling->after_length = (size_t)snprintf(spelling->after, sizeof spelling->after, after, id);
}

// `session-agent` says hello before it is asked anything.
static void tell_hello(struct buffer *out, enum wire wire) {
  if (wire == SESSION_AGENT)
    tell(out, wire,
         "{\"type\":\"init\",\"session\":{\"id\":\"bench\",\"status\":\"running\"},"
         "\"data\":{\"connectedUsers\":[\"bench\"],\"pendingPrompt\":null,"
         "\"runnerConnected\":true,\"runnerBusy\":false,\"promptsQueued\":0}}");
}

// All but the delta of a chunk, as most servers have it.
#define CHUNK                                                                                   \
  "{\"id\":\"chatcmpl-%s\",\"object\":\"chat.completion.chunk\",\"created\":1790000000," \
  "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{"

// `init` of a session of so many messages, each of 200 characters: prompts and answers in turn.
static void tell_history(struct buffer *out, long messages) {
  static struct buffer init;
  init.start = init.end = 0;
  print(&init, "{\"type\":\"init\",\"session\":{\"id\":\"bench\",\"status\":\"running\",\"messages\":[");
  for (long i = 0; i < messages; i++) {
    print(&init, "%s{\"id\":\"m%ld\",\"role\":\"%s\"," CHANNEL ",\"parts\":[{\"type\":\"text\",\"text\":\"",
          i ? "," : "", i, i % 2 ? "assistant" : "user");
    put(&init, filler, HISTORY_TEXT_BYTES);
    print(&init, "\"}%s]}", i % 2 ? ",{\"type\":\"finish\",\"reason\":\"end_turn\"}" : "");
  }
  print(&init, "]},\"data\":{\"runnerBusy\":false}}");
  put_frame_head(out, TEXT, waiting(&init));
  put(out, init.data, waiting(&init));
}

static void tell_start(struct buffer *out, struct turn *turn) {
  const char *id = turn->id;
  switch (turn->wire) {
    case V2:
      if (turn->prompt_id[0])
        tellf(out, V2, "{\"type\":\"message.create\",\"turnId\":\"%s\",\"promptId\":\"%s\","
              CHANNEL "}", id, turn->prompt_id);
      else
        tellf(out, V2, "{\"type\":\"message.create\",\"turnId\":\"%s\"}", id);
      spell(&turn->spellings[0],
            "{\"type\":\"message.part.text-delta\",\"turnId\":\"%s\",\"delta\":\"", id, "\"}");
      spell(&turn->spellings[1], "{\"type\":\"chunk\",\"content\":\"", id,
            "\",\"messageId\":\"%s\"," CHANNEL "}");
      break;
    case SESSION_AGENT:
      tellf(out, SESSION_AGENT, "{\"type\":\"message\",\"data\":{\"id\":\"prompt-%s\","
            "\"role\":\"user\",\"content\":\"%s\",\"authorId\":\"bench\"," CHANNEL "}}",
            id, turn->text);
      tellf(out, SESSION_AGENT, "{\"type\":\"message\",\"data\":{\"id\":\"%s\","
            "\"role\":\"assistant\",\"content\":\"\",\"parts\":[]," CHANNEL "}}", id);
      spell(&turn->spellings[0], "{\"type\":\"chunk\",\"content\":\"", id,
            "\",\"messageId\":\"%s\"," CHANNEL "}");
      break;
    case ACP:
      spell(&turn->spellings[0], "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"
            "\"sessionId\":\"%s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\","
            "\"content\":{\"type\":\"text\",\"text\":\"", turn->thread_id, "\"}}}}");
      break;
    case AG_UI:
      tellf(out, AG_UI, "{\"type\":\"RUN_STARTED\",\"threadId\":\"%s\",\"runId\":\"%s\"}",
            turn->thread_id, turn->prompt_id);
      tellf(out, AG_UI, "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"%s\","
            "\"role\":\"assistant\"}", id);
      spell(&turn->spellings[0], "data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"%s\","
            "\"delta\":\"", id, turn->plan.noise ? "\",\"rawEvent\":{\"data\":\"" : "\"}\n\n");
      break;
    case OPENAI_CHAT:
      tellf(out, OPENAI_CHAT, CHUNK "\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,"
            "\"finish_reason\":null}]}", id);
      spell(&turn->spellings[0], "data: " CHUNK "\"content\":\"", id,
            "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n");
      break;
    case READY_MADE:
      tellf(out, READY_MADE, "event: message-start\ndata: {\"type\":\"start\","
            "\"messageId\":\"%s\"}\n\nevent: text-start\ndata: {\"type\":\"text-start\","
            "\"id\":\"%s\"}\n\n", id, id);
      spell(&turn->spellings[0],
            "event: text-delta\ndata: {\"type\":\"text-delta\",\"id\":\"%s\",\"delta\":\"", id,
            "\"}\n\n");
      break;
  }
}

static void tell_tool(struct buffer *out, const struct turn *turn, long number) {
  static const char *const states[] = {
      "\"pending\"",
      "\"running\",\"args\":{\"expression\":\"2+2\"}",
      "\"completed\",\"args\":{\"expression\":\"2+2\"},\"result\":{\"value\":4}",
  };
  char head[TEXT_BYTES];
  static const char result[] = "\"completed\",\"result\":\"";
  for (size_t i = 0; i < 3 && turn->wire == V2; i++) {
    bool is_long = i == 2 && turn->plan.output;
    size_t length = (size_t)snprintf(
        head, sizeof head,
        "{\"type\":\"message.part.tool-update\",\"turnId\":\"%s\",\"callId\":\"c%ld\","
        "\"toolName\":\"calculator\",\"status\":%s", turn->id, number, is_long ? result : states[i]);
    size_t output = is_long ? (size_t)turn->plan.output : 0;
    put_frame_head(out, TEXT, length + output + (is_long ? 2 : 1));
    put(out, head, length);
    put(out, filler, output);
    put(out, is_long ? "\"}" : "}", is_long ? 2 : 1);
  }
}

// What real servers say beside a delta, and no client is shown: half of the noise in an event of its
// own, half in the delta's `rawEvent`.
static void tell_noise(struct buffer *out, size_t noise) {
  static const char before[] = "data: {\"type\":\"RAW\",\"event\":{\"data\":\"", after[] = "\"}}\n\n";
  print(out, "%zx\r\n%s", sizeof before - 1 + noise + sizeof after - 1, before);
  put(out, filler, noise);
  print(out, "%s\r\n", after);
}

static void tell_delta(struct buffer *out, struct turn *turn, uint64_t now) {
  static const char digits[] = "0123456789abcdef";
  char head[HEAD_BYTES];
  head[0] = 'T';
  for (int i = 0; i < 16; i++) head[1 + i] = digits[now >> (60 - 4 * i) & 15];
  for (int i = 0; i < 3; i++) head[17 + i] = digits[turn->sent >> (8 - 4 * i) & 15];
  size_t size = (size_t)turn->plan.size;
  int spellings = turn->plan.spellings == 2 && turn->wire == V2 ? 2 : 1;
  static const char noise_end[] = "\"}}\n\n";
  size_t noise = turn->wire == AG_UI ? (size_t)turn->plan.noise / 2 : 0;
  size_t more = noise ? noise + sizeof noise_end - 1 : 0;
  if (noise) tell_noise(out, noise);
  for (int i = 0; i < spellings; i++) {
    const struct spelling *s = &turn->spellings[i];
    size_t length = s->before_length + size + s->after_length + more;
    if (is_chunked(turn->wire)) {
      char chunk_head[24];
      put(out, chunk_head, (size_t)snprintf(chunk_head, sizeof chunk_head, "%zx\r\n", length));
    } else {
      put_frame_head(out, TEXT, length);
    }
    char *at = reserve(out, length + 2);
    memcpy(at, s->before, s->before_length);
    at += s->before_length;
    memcpy(at, head, sizeof head);
    memcpy(at + sizeof head, filler, size - sizeof head);
    memcpy(at + size, s->after, s->after_length);
    out->end += length - more;
    if (noise) {
      put(out, filler, noise);
      put(out, noise_end, sizeof noise_end - 1);
    }
    if (is_chunked(turn->wire)) put(out, "\r\n", 2);
  }
  turn->sent++;
  if (turn->plan.tools) {
    long every = turn->plan.deltas / (turn->plan.tools + 1) + 1;
    if (turn->sent % every == 0) tell_tool(out, turn, turn->sent / every);
  }
}

// A turn of `acp` is a request, and its end the response.
static void tell_stop(struct buffer *out, const struct turn *turn, const char *reason) {
  tellf(out, ACP, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"stopReason\":\"%s\"}}",
        turn->request, reason);
}

static void tell_end(struct buffer *out, const struct turn *turn) {
  const char *id = turn->id;
  switch (turn->wire) {
    case V2:
      tellf(out, V2, "{\"type\":\"message.finalize\",\"turnId\":\"%s\",\"reason\":\"end_turn\"}",
            id);
      break;
    case SESSION_AGENT:
      tellf(out, SESSION_AGENT, "{\"type\":\"message.updated\",\"data\":{\"id\":\"%s\","
            "\"role\":\"assistant\",\"content\":\"\",\"parts\":[{\"type\":\"finish\","
            "\"reason\":\"end_turn\"}]," CHANNEL "}}", id);
      tellf(out, SESSION_AGENT, "{\"type\":\"status\",\"data\":{\"runnerBusy\":false,"
            "\"messageId\":\"prompt-%s\"}}", id);
      break;
    case ACP:
      tell_stop(out, turn, "end_turn");
      break;
    case AG_UI:
      tellf(out, AG_UI, "{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"%s\"}", id);
      tellf(out, AG_UI, "{\"type\":\"RUN_FINISHED\",\"threadId\":\"%s\",\"runId\":\"%s\"}",
            turn->thread_id, turn->prompt_id);
      put(out, "0\r\n\r\n", 5);
      break;
    case OPENAI_CHAT:
      tellf(out, OPENAI_CHAT, CHUNK "},\"logprobs\":null,\"finish_reason\":\"stop\"}]}", id);
      tell(out, OPENAI_CHAT, "[DONE]");
      put(out, "0\r\n\r\n", 5);
      break;
    case READY_MADE:
      tellf(out, READY_MADE, "event: text-end\ndata: {\"type\":\"text-end\",\"id\":\"%s\"}\n\n"
            "event: finish-step\ndata: {\"type\":\"finish-step\"}\n\n"
            "event: message-finish\ndata: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n", id);
      put(out, "0\r\n\r\n", 5);
      break;
  }
}

// A string's value in flat JSON, as it is written there. False: it is not there, or too long.
static bool field(const char *json, size_t length, const char *name, char *out, size_t room) {
  char key[32];
  int key_length = snprintf(key, sizeof key, "\"%s\":\"", name);
  const char *at = memmem(json, length, key, (size_t)key_length), *end = json + length;
  out[0] = 0;
  if (!at) return false;
  at += key_length;
  const char *to = at;
  while (to < end && *to != '"') to += *to == '\\' ? 2 : 1;
  if (to >= end || (size_t)(to - at) >= room) return false;
  memcpy(out, at, (size_t)(to - at));
  out[to - at] = 0;
  return true;
}

// The id of a request of JSON-RPC. 0: there is none.
static inline long request_of(const char *json, size_t length) {
  static const char key[] = "\"id\":";
  const char *at = memmem(json, length, key, sizeof key - 1), *end = json + length;
  long id = 0;
  if (!at) return id;
  for (at += sizeof key - 1; at < end && *at >= '0' && *at <= '9'; at++) id = 10 * id + *at - '0';
  return id;
}
