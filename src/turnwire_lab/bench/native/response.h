// An HTTP/1.1 response as it comes in: head, chunked body, end.
#pragma once

#include "common.h"

enum at { HEAD, SIZE, EXTENSION, DATA, DATA_END, LAST_LINE, OVER, BROKEN_OFF };

struct response {
  enum at at;
  bool is_first;  // nothing came yet
  int status;
  bool closes;
  size_t left;  // of the chunk
  char head[4096];
  size_t head_length;
};

typedef void body_part(void *context, const char *data, size_t length);

static void expect(struct response *r) {
  r->at = HEAD;
  r->is_first = true;
  r->status = 0;
  r->left = r->head_length = 0;
}

static enum at after_head(struct response *r) {
  r->status = atoi(r->head + strlen("HTTP/1.1 "));
  r->closes = strcasestr(r->head, "\nconnection: close") != NULL;
  if (strcasestr(r->head, "\ntransfer-encoding: chunked")) return SIZE;
  return BROKEN_OFF;  // a refusal: its body is of no interest, and the connection of no more use
}

// Takes what was read. The body's bytes go to `part`.
static void take_response(struct response *r, const char *data, size_t length, body_part *part, void *context) {
  const char *at = data, *end = data + length;
  while (at < end && r->at != OVER && r->at != BROKEN_OFF) {
    switch (r->at) {
      case HEAD:
        r->is_first = false;
        if (r->head_length == sizeof r->head - 1) {
          r->at = BROKEN_OFF;
          break;
        }
        r->head[r->head_length++] = *at++;
        r->head[r->head_length] = 0;
        if (r->head_length >= 4 && !memcmp(r->head + r->head_length - 4, "\r\n\r\n", 4))
          r->at = after_head(r);
        break;
      case SIZE: {
        char c = *at++;
        if (c == '\n')
          r->at = r->left ? DATA : LAST_LINE;
        else if (c == ';')
          r->at = EXTENSION;
        else if (c != '\r')
          r->left = r->left * 16 + (size_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        break;
      }
      case EXTENSION:
        if (*at++ == '\n') r->at = r->left ? DATA : LAST_LINE;
        break;
      case DATA: {
        size_t count = (size_t)(end - at) < r->left ? (size_t)(end - at) : r->left;
        part(context, at, count);
        at += count;
        r->left -= count;
        if (!r->left) r->at = DATA_END;
        break;
      }
      case DATA_END:
        if (*at++ == '\n') r->at = SIZE;
        break;
      case LAST_LINE:
        if (*at++ == '\n') r->at = OVER;
        break;
      default:
        break;
    }
  }
}
