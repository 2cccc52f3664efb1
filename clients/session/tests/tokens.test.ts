import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";

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

/** A gateway that refuses its first request if it is told to, and what it was sent. */
async function gatewayOf(context: TestContext, refuses: boolean) {
  const given: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const isFirst = given.push(request.headers.authorization) === 1;
    response.writeHead(isFirst && refuses ? 401 : 200).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { given, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("a token goes to the gateway that it was asked for, and to no other", async (context) => {
  const one = await gatewayOf(context, true);
  const two = await gatewayOf(context, false);
  const asked: string[] = [];
  const send = withToken((gateway) => `t${asked.push(gateway)}`);
  const bases = [one.url, two.url, one.url, `${one.url}/other`, `${two.url}`];
  for (const base of bases) await send(`${base}/api/sessions/s1/messages?of=/api/sessions/x`);

  assert.deepEqual(asked, [one.url, one.url, two.url, `${one.url}/other`]);
  assert.deepEqual(one.given, ["Bearer t1", "Bearer t2", "Bearer t2", "Bearer t4"]);
  assert.deepEqual(two.given, ["Bearer t3", "Bearer t3"]);
});

test("requests at once to two gateways do not share a token", async (context) => {
  const all = await Promise.all([gatewayOf(context, true), gatewayOf(context, true)]);
  const send = withToken(async (gateway) => `of:${gateway}`);
  await Promise.all(all.map(({ url }) => send(new URL(`${url}/api/sessions/s1/chat`), { method: "POST" })));

  for (const { url, given } of all) assert.deepEqual(given, [`Bearer of:${url}`, `Bearer of:${url}`]);
});
