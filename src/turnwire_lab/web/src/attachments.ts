// Files go along with the prompt as data: URLs; the gateway says what is too much.
import type { AttachmentAdapter } from "@assistant-ui/react";

export const attachments: AttachmentAdapter = {
  accept: "*",
  add: ({ file }) =>
    Promise.resolve({
      id: crypto.randomUUID(),
      type: file.type.startsWith("image/") ? "image" : "file",
      name: file.name,
      contentType: file.type || "application/octet-stream",
      file,
      status: { type: "requires-action", reason: "composer-send" },
    }),
  send: async (attachment) => ({
    ...attachment,
    status: { type: "complete" },
    content: [
      {
        type: "file",
        data: await dataUrl(attachment.file),
        mimeType: attachment.contentType ?? "application/octet-stream",
        filename: attachment.name,
      },
    ],
  }),
  remove: () => Promise.resolve(),
};

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
