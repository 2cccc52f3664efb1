// Two signals as one, with and without `AbortSignal.any`.
import assert from "node:assert/strict";
import { test } from "node:test";

import { either } from "../src/signals.js";

for (const has of [true, false]) {
  test(`the first one counts, ${has ? "with" : "without"} AbortSignal.any`, (context) => {
    const { any } = AbortSignal;
    context.after(() => (AbortSignal.any = any));
    if (!has) AbortSignal.any = undefined as unknown as typeof any;
    const [one, other] = [new AbortController(), new AbortController()];
    const both = either(one.signal, other.signal);
    assert.equal(both.aborted, false);
    other.abort("why");
    one.abort("too late");
    assert.equal(both.reason, "why");

    assert.equal(either(new AbortController().signal, AbortSignal.abort("before")).reason, "before");
  });
}
