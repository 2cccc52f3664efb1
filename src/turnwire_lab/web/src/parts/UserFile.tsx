import { useAuiState } from "@assistant-ui/react";

import { Download } from "./Files";

export function UserFile() {
  const attachment = useAuiState((state) => state.attachment);
  const part = attachment.content?.[0];
  if (part?.type === "image") {
    return <img className="picture small" src={part.image} alt={attachment.name} />;
  }
  return <Download href={part?.type === "file" ? part.data : ""} name={attachment.name} />;
}
