// The pictures in what a tool has returned, and the rest of it as text that can be read.

export interface Picture {
  url: string;
  name: string;
}

const MOST = 20;
const DATA_URL = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/;
const TYPE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/;

/** In the order in which they stand there; the text says where each was. */
export function picturesOf(result: unknown): [pictures: Picture[], text: string] {
  const pictures: Picture[] = [];
  const take = (url: string, name: unknown): string => {
    if (pictures.length < MOST) pictures.push({ url, name: typeof name === "string" ? name : "A picture from the tool" });
    return `(a picture of ${url.length.toLocaleString("en")} characters)`;
  };
  const text = JSON.stringify(
    result ?? null,
    (_, value: unknown) => {
      if (typeof value === "string") return DATA_URL.test(value) ? take(value, null) : value;
      const bytes = base64Of(value);
      return bytes === null ? value : { ...(value as object), [bytes.field]: take(bytes.url, bytes.name) };
    },
    2,
  );
  return [pictures, text];
}

/** The picture of an object that has its type beside its bytes, as those of MCP and of the AI SDK do. */
function base64Of(value: unknown): { field: string; url: string; name: unknown } | null {
  if (typeof value !== "object" || value === null) return null;
  const { data, mimeType, mediaType, filename, name } = value as Record<string, unknown>;
  const type = mimeType ?? mediaType;
  if (typeof data !== "string" || typeof type !== "string" || !TYPE.test(type)) return null;
  return /^[A-Za-z0-9+/]+=*$/.test(data) ? { field: "data", url: `data:${type};base64,${data}`, name: filename ?? name } : null;
}
