// What is sent to `POST /v1/generate`, and what comes back: the JSON of turnwire-agent.

export interface Text {
  type: "text";
  text: string;
}

export interface Image {
  type: "image";
  media_type: string;
  /** Base64. */
  data?: string;
  url?: string;
}

export interface File {
  type: "file";
  media_type: string;
  /** Base64. */
  data?: string;
  url?: string;
  name?: string;
}

export interface Reasoning {
  type: "reasoning";
  text: string;
}

export interface Call {
  type: "call";
  id: string;
  name: string;
  /** JSON text, as the model wrote it. It may not parse. */
  arguments: string;
}

export interface Result {
  call_id: string;
  name: string;
  content: (Text | Image | File)[];
  outcome: "done" | "failed" | "denied";
}

/** What a provider sent for one answer, byte for byte: it goes back to the same model. */
export interface Native {
  shape: string;
  provider: string;
  model: string;
  /** A JSON array as text, so that nobody changes its bytes. */
  blocks: string;
}

export type Message =
  | { type: "user"; parts: (Text | Image | File)[] }
  | { type: "assistant"; parts: (Text | Reasoning | Call | Image | File)[]; native?: Native }
  | { type: "results"; results: Result[] };

export type Effort = "none" | "low" | "medium" | "high";

export interface Question {
  model: string;
  transcript: Message[];
  instructions?: string;
  tools?: { name: string; description?: string; schema: object }[];
  tool_choice?: "auto" | "none" | "required" | { name: string };
  parallel_tools?: boolean;
  max_tokens?: number;
  temperature?: number;
  top_p?: number;
  stop?: string[];
  effort?: Effort;
  answer_schema?: object;
}

export interface Usage {
  inputTokens: Record<"total" | "noCache" | "cacheRead" | "cacheWrite", number | null>;
  outputTokens: Record<"total" | "text" | "reasoning", number | null>;
}

export type Reason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

export interface Fault {
  kind: string;
  retryable: boolean;
  status?: number;
  retryAfterS?: number;
}

export type Metadata = Record<string, Record<string, Native>>;

/** A part of an answer. Those of a newer server that are not here are left out. */
export type Part =
  | { type: "stream-start"; warnings: { type: "unsupported"; feature: string; details: string }[] }
  | { type: "response-metadata"; id: string; modelId: string }
  | { type: "text-start"; id: string }
  | { type: "text-delta"; id: string; delta: string }
  | { type: "text-end"; id: string }
  | { type: "reasoning-start"; id: string }
  | { type: "reasoning-delta"; id: string; delta: string }
  | { type: "reasoning-end"; id: string; providerMetadata?: Metadata }
  | { type: "tool-input-start"; id: string; toolName: string }
  | { type: "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-end"; id: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string }
  | { type: "file"; mediaType: string; data: { type: "data"; data: string } }
  | { type: "source"; sourceType: "url"; id: string; url: string; title?: string }
  | { type: "finish"; finishReason: { unified: Reason; raw: string }; usage: Usage }
  | { type: "error"; error: Fault };
