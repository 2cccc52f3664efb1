import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { NoToken, withToken } from "../src/tokens.js";

test("a token that is refused is replaced once, for all who wait", async () => {
  const given: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    given.push(request.headers.authorization);
    response.writeHead(request.headers.authorization === "Bearer good" ? 200 : 401).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const tokens = ["bad", "good"];
  let asked = 0;
  const send = withToken(() => tokens[Math.min(asked++, 1)] ?? "");
  const all = await Promise.all([send(url), send(url)]);
  assert.deepEqual(all.map(({ status }) => status), [200, 200]);
  assert.equal(asked, 2);

  // What is refused then is the response.
  let more = 0;
  const bad = withToken(() => `bad${(more += 1)}`);
  assert.equal((await bad(url)).status, 401);
  assert.equal(more, 2);

  // What is no token is sent to nobody.
  const before = given.length;
  await assert.rejects(withToken(() => "no token")(url), NoToken);
  await assert.rejects(withToken(() => Promise.reject(new Error("no")))(url), NoToken);
  assert.equal(given.length, before);
  server.close();
  server.closeAllConnections();
});
