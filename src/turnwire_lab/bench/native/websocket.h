// The server's side of a WebSocket (RFC 6455), as far as a load needs it.
#pragma once

#include "common.h"

enum opcode { TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };

static inline uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

// SHA-1 (FIPS 180-4) of a short text, for the handshake alone.
static void sha1(const char *text, size_t length, unsigned char digest[20]) {
  uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  unsigned char padded[192] = {0};
  size_t blocks = (length + 9 + 63) / 64;
  memcpy(padded, text, length);
  padded[length] = 0x80;
  uint64_t bits = (uint64_t)length * 8;
  for (int i = 0; i < 8; i++) padded[blocks * 64 - 1 - (size_t)i] = (unsigned char)(bits >> (8 * i));
  for (size_t block = 0; block < blocks; block++) {
    uint32_t w[80];
    for (int i = 0; i < 16; i++) {
      const unsigned char *at = padded + block * 64 + 4 * (size_t)i;
      w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int i = 16; i < 80; i++) w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 80; i++) {
      uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                   : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                   : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                            : (b ^ c ^ d) + 0xca62c1d6;
      uint32_t next = rotated(a, 5) + f + e + w[i];
      e = d, d = c, c = rotated(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
  }
  for (int i = 0; i < 20; i++) digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

static void base64(const unsigned char digest[20], char out[29]) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0, o = 0; i < 20; i += 3, o += 4) {
    uint32_t three = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 |
                     (i + 2 < 20 ? digest[i + 2] : 0);
    for (int j = 0; j < 4; j++) out[o + j] = letters[three >> (18 - 6 * j) & 63];
  }
  out[27] = '=';
  out[28] = 0;
}

// The key of a request's head, and what answers it. False: there is none.
static bool accept_key(const char *head, char out[29]) {
  const char *key = strcasestr(head, "\nsec-websocket-key:");
  if (!key) return false;
  key += strlen("\nsec-websocket-key:");
  key += strspn(key, " ");
  size_t length = strcspn(key, "\r ");
  if (length > 60) return false;
  char text[128];
  unsigned char digest[21] = {0};
  memcpy(text, key, length);
  strcpy(text + length, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  sha1(text, strlen(text), digest);
  base64(digest, out);
  return true;
}

static inline void put_frame_head(struct buffer *out, enum opcode opcode, size_t length) {
  unsigned char head[10] = {(unsigned char)(0x80 | opcode)};
  size_t bytes = 2;
  if (length < 126) {
    head[1] = (unsigned char)length;
  } else if (length < 65536) {
    head[1] = 126;
    head[2] = (unsigned char)(length >> 8);
    head[3] = (unsigned char)length;
    bytes = 4;
  } else {
    head[1] = 127;
    for (int i = 0; i < 8; i++) head[2 + i] = (unsigned char)((uint64_t)length >> (56 - 8 * i));
    bytes = 10;
  }
  put(out, head, bytes);
}

struct frame {
  enum opcode opcode;
  char *data;
  size_t length, whole;
};

enum parsed { MORE, FRAME, BROKEN };

// The next frame of a client, unmasked where it lies. Clients send small frames, in one piece.
static enum parsed next_frame(struct buffer *in, struct frame *frame) {
  unsigned char *at = (unsigned char *)in->data + in->start;
  size_t have = waiting(in), head = 2;
  if (have < 2) return MORE;
  size_t length = at[1] & 127;
  bool is_masked = at[1] >> 7;
  if (!(at[0] & 0x80) || length == 127) return BROKEN;
  if (length == 126) {
    if (have < 4) return MORE;
    length = (size_t)at[2] << 8 | at[3];
    head = 4;
  }
  unsigned char *mask = at + head;
  if (is_masked) head += 4;
  if (have < head + length) return MORE;
  *frame = (struct frame){at[0] & 15, (char *)at + head, length, head + length};
  if (is_masked)
    for (size_t i = 0; i < length; i++) frame->data[i] ^= (char)mask[i & 3];
  return FRAME;
}
