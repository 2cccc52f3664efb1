// What an app does beside reading its stream: it stops the turn, or is gone in the middle of it.
//
// Of an action, `cut` and `stop` say at which record: its number, counted from 1, or a chunk's type,
// for the first one. `cut` hangs up right after that record, as a reload does; with `broken: true` the
// chat is told of it, as of a network that failed. `stop` asks for a stop and reads on; with
// `named: true` it names the turn.

/** Ask the gateway something about the session whose chat `api` is; refusals are thrown. */
export async function call(api, route, { headers }, body) {
  const url = api.replace(/chat$/, route);
  const posted = body && {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(url, posted ?? { headers });
  const said = await response.text();
  if (!response.ok) throw new Error(`${route}: ${response.status} ${said}`);
  return JSON.parse(said);
}

/** The response as the chat reads it; `stop` is called with the turn's id, or with none. */
export function asRead(response, { cut, broken, stop, named }, stopTurn) {
  const type = response.headers.get("content-type") ?? "";
  if ((!cut && !stop) || !type.startsWith("text/event-stream")) return response;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const due = { cut, stop };
  let number = 0;
  let rest = "";
  let turnId;

  function isDue(what, chunk) {
    if (due[what] === undefined || (due[what] !== number && due[what] !== chunk.type)) return false;
    delete due[what];
    return true;
  }

  async function pull(controller) {
    let records = [];
    while (!records.length) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      records = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = records.pop();
    }
    for (const record of records) {
      controller.enqueue(encoder.encode(`${record}\n\n`));
      const data = record.split("\n").find((line) => line.startsWith("data: {"));
      if (data === undefined) continue;
      const chunk = JSON.parse(data.slice("data: ".length));
      number += 1;
      if (chunk.type === "start") turnId = chunk.messageId;
      if (isDue("stop", chunk)) await stopTurn(named ? turnId : undefined);
      if (!isDue("cut", chunk)) continue;
      await reader.cancel();
      return broken ? controller.error(new TypeError("network error")) : controller.close();
    }
  }

  const body = new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) });
  return new Response(body, { status: response.status, headers: response.headers });
}
