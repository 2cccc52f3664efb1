// Files of a prompt: bytes, base64, an address or a text in; a picture or a file of the wire out.
import type { LanguageModelV2DataContent, SharedV4FileData } from "@ai-sdk/provider";

import type { Warnings } from "./warnings.js";
import type { File, Image } from "./wire.js";

export type Data = LanguageModelV2DataContent | SharedV4FileData;

const AT_ONCE = 0x8000; // arguments of one call
const BASE64_OF = [
  ["image/png", "iVBORw0KGgo"],
  ["image/jpeg", "/9j/"],
  ["image/gif", "R0lGOD"],
  ["image/webp", "UklGR"],
  ["application/pdf", "JVBERi0"],
] as const;

/** A file, or nothing and a warning. A media type as `image/*` is read from the bytes. */
export function file(
  data: Data,
  mediaType: string,
  name: string | undefined,
  where: string,
  warnings: Warnings,
): Image | File | undefined {
  const content = contentOf(data);
  if (content === undefined) {
    warnings.add(where, "a file by reference is dropped: it is known to its own provider only");
    return undefined;
  }
  const known = exact(mediaType, content.data);
  if (known === undefined && content.data !== undefined) {
    warnings.add(where, `a file is dropped: what ${mediaType} it is cannot be seen`);
    return undefined;
  }
  const media_type = known ?? mediaType;
  if (media_type.startsWith("image/")) return { type: "image", media_type, ...content };
  return { type: "file", media_type, ...content, ...(name === undefined ? {} : { name }) };
}

export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  }
  return btoa(binary);
}

type Content = { data: string; url?: never } | { url: string; data?: never };

function contentOf(data: Data): Content | undefined {
  if (data instanceof URL) return ofAddress(data.href);
  if (data instanceof Uint8Array) return { data: base64(data) };
  if (typeof data === "string") return /^(https?|data):/.test(data) ? ofAddress(data) : { data };
  if (data.type === "data") return contentOf(data.data);
  if (data.type === "url") return ofAddress(String(data.url));
  if (data.type === "text") return { data: base64(new TextEncoder().encode(data.text)) };
  return undefined;
}

function ofAddress(address: string): Content {
  const inline = /^data:[^,]*?(;base64)?,(.*)$/s.exec(address);
  if (inline === null) return { url: address };
  const text = inline[2] ?? "";
  return { data: inline[1] ? text : base64(new TextEncoder().encode(decodeURIComponent(text))) };
}

function exact(mediaType: string, data: string | undefined): string | undefined {
  if (/^[^/*]+\/[^/*]+$/.test(mediaType)) return mediaType;
  const top = mediaType.split("/")[0] ?? "";
  return BASE64_OF.find(([type, start]) => type.startsWith(`${top}/`) && data?.startsWith(start))?.[0];
}
