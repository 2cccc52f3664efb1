// A fetch with the manners of `expo/fetch` on a phone, over the fetch of Node.
//
// From Expo's sources of SDK 52 to 58 and its issues 33549, 47573 and 48251: the native side pushes bytes
// at its own pace, and what came before the body is asked for is one chunk; the response is no `Response`,
// and cannot be cloned; an error is an `Error` with its own words, after an abort too. Before SDK 57 an
// abort leaves a body that never ends.
const BODY_HEARS_ABORTS = 57;

class FetchError extends Error {}

/** The fetch of an Expo of that release, whose native side is `native`. */
export function ofExpo(native, sdk) {
  return async function expoFetch(input, { signal, ...init } = {}) {
    const canceled = new AbortController();
    if (signal?.aborted) throw new FetchError("The operation was aborted.");
    const body = pushed(() => canceled.abort());
    signal?.addEventListener("abort", () => {
      if (sdk >= BODY_HEARS_ABORTS) body.fail(signal.reason);
      canceled.abort();
    });
    let response;
    try {
      const headers = [...new Headers(init.headers)];
      response = await native(String(input), { ...init, headers, signal: canceled.signal });
    } catch (error) {
      const why = canceled.signal.aborted ? "Fetch request has been canceled" : error.message;
      throw new FetchError(`fetch failed: ${why}`);
    }
    pump(response, body, canceled);
    // The native side is ahead: what has come by now is the first piece.
    await new Promise((resolve) => setTimeout(resolve));
    return asExpo(response, body.stream());
  };
}

async function pump(response, body, canceled) {
  try {
    for await (const bytes of response.body ?? []) body.push(bytes);
    body.end();
  } catch (error) {
    // The native side tells nobody that it was canceled.
    if (!canceled.signal.aborted) body.fail(new Error(error.message));
  }
}

/** Bytes as they come; `stream` begins with all that came before it was pulled, in one piece. */
function pushed(onCancel) {
  const early = [];
  let controller;
  let state = "waits"; // then "flows", and "over"
  let last = () => {};

  function flow() {
    if (state !== "waits") return;
    state = "flows";
    if (early.length) controller.enqueue(new Uint8Array(Buffer.concat(early)));
    last();
  }

  function finish(act) {
    if (state === "over") return;
    last = () => {
      state = "over";
      act();
    };
    if (state === "flows") last();
  }

  return {
    stream: () =>
      new ReadableStream({
        start: (given) => (controller = given),
        pull: flow,
        cancel() {
          state = "over";
          onCancel();
        },
      }),
    push(bytes) {
      if (state === "waits") early.push(bytes);
      else if (state === "flows") controller.enqueue(new Uint8Array(bytes));
    },
    end: () => finish(() => controller.close()),
    fail: (error) => finish(() => controller.error(error)),
  };
}

function asExpo({ status, statusText, url, redirected, headers }, body) {
  const read = async () => {
    const pieces = [];
    for await (const piece of body) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  return {
    ...{ status, statusText, url, redirected, type: "default", ok: status >= 200 && status < 300 },
    get headers() {
      return new Headers([...headers]);
    },
    body,
    text: async () => (await read()).toString("utf8"),
    json: async () => JSON.parse((await read()).toString("utf8")),
    arrayBuffer: async () => new Uint8Array(await read()).buffer,
    clone() {
      throw new Error("Not implemented");
    },
  };
}
