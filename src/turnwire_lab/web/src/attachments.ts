// Files go along with the prompt as data: URLs. What the gateway would refuse for its size is
// refused when it is chosen; of the rest the gateway says what is too much.
import type { AttachmentAdapter } from "@assistant-ui/react";
import type { UIMessage } from "ai";

// The gateway's own limits, TURNWIRE_ATTACHMENTS and TURNWIRE_ATTACHMENT_BYTES, which the demo
// leaves as they are; and of TURNWIRE_BODY_BYTES what a prompt's text leaves.
const MOST = 8;
const LONGEST = 12_000_000;
const LONGEST_TOGETHER = 16_000_000;
const UNKNOWN = "application/octet-stream";

/** For one message box: it counts what is in it. */
export function attachments(): AttachmentAdapter {
  const lengths = new Map<string, number>();
  return {
    accept: "*",
    add: ({ file }) => {
      const length = lengthOfUrl(file);
      const together = [...lengths.values()].reduce((sum, each) => sum + each, length);
      if (file.size === 0) return refused(`${file.name} is empty.`);
      if (length > LONGEST) {
        return refused(`${file.name} is too large. Files may have up to about ${mb(LONGEST)} here.`);
      }
      if (lengths.size >= MOST) return refused(`${file.name} was left out. A message may have up to ${MOST} files.`);
      if (together > LONGEST_TOGETHER) {
        return refused(`${file.name} was left out. Files may have up to about ${mb(LONGEST_TOGETHER)} together.`);
      }
      const id = crypto.randomUUID();
      lengths.set(id, length);
      return Promise.resolve({
        id,
        type: file.type.startsWith("image/") ? "image" : "file",
        name: file.name,
        contentType: file.type || UNKNOWN,
        file,
        status: { type: "requires-action", reason: "composer-send" },
      });
    },
    send: async (attachment) => {
      const data = await dataUrl(attachment.file);
      lengths.delete(attachment.id);
      return {
        ...attachment,
        status: { type: "complete" },
        content: [
          { type: "file", data, mimeType: attachment.contentType ?? UNKNOWN, filename: attachment.name },
        ],
      };
    },
    remove: ({ id }) => {
      lengths.delete(id);
      return Promise.resolve();
    },
  };
}

/** The files of a message that was not taken, as they were chosen. */
export function filesOf(message: UIMessage): File[] {
  return message.parts.flatMap((part) => {
    if (part.type !== "file" || !part.url.startsWith("data:")) return [];
    const bytes = Uint8Array.from(atob(part.url.slice(part.url.indexOf(",") + 1)), (each) => each.charCodeAt(0));
    return [new File([bytes], part.filename ?? "file", { type: part.mediaType })];
  });
}

function refused(words: string): Promise<never> {
  return Promise.reject(new Error(words));
}

function lengthOfUrl(file: File): number {
  return `data:${file.type || UNKNOWN};base64,`.length + 4 * Math.ceil(file.size / 3);
}

function mb(characters: number): string {
  return `${Math.round((characters * 3) / 4 / 1_000_000)} MB`;
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
