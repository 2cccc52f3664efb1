// What an app may see as the `error` of its chat.

/** `code` is one of the gateway's, or one of this package's: see the README. */
export class TurnwireError extends Error {
  override name = "TurnwireError";

  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The gateway refused a request, with its own code and words. */
export class RefusedError extends TurnwireError {
  override name = "RefusedError";

  constructor(
    readonly status: number,
    code: string,
    message: string,
    /** In seconds, where the gateway names it. */
    readonly retryAfter: number | null = null,
  ) {
    super(code, message);
  }
}

/** The turn has other words than before the break, and no chunk can take back what the reader has. */
export class TurnChangedError extends TurnwireError {
  override name = "TurnChangedError";

  constructor() {
    super("turn_changed", "The answer reads otherwise than before the connection broke: read the history again");
  }
}

const TEXT_MAX = 500;

/** The refusal that a response states. Its body is read to the end. */
export async function refusalOf(response: Response): Promise<RefusedError> {
  const text = await response.text().catch(() => "");
  const { code, error } = fieldsOf(text);
  const after = response.headers.get("retry-after") ?? "";
  return new RefusedError(
    response.status,
    typeof code === "string" ? code.slice(0, TEXT_MAX) : "refused",
    typeof error === "string" ? error.slice(0, TEXT_MAX) : `The gateway answered ${response.status}`,
    /^\d{1,6}$/.test(after) ? Number(after) : null,
  );
}

function fieldsOf(text: string): { code?: unknown; error?: unknown } {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? found : {};
  } catch {
    return {};
  }
}

export function aborted(): Error {
  return new DOMException("The stream was left", "AbortError");
}
