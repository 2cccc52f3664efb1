import type {
  FileMessagePartProps,
  ImageMessagePartProps,
  SourceMessagePartProps,
} from "@assistant-ui/react";

import { Icon } from "../Icon";

export function FilePart({ data, mimeType, filename }: FileMessagePartProps) {
  if (mimeType.startsWith("image/") && data.startsWith("data:")) {
    return <img className="picture" src={data} alt={filename ?? "A picture from the agent"} />;
  }
  return <Download href={data} name={filename ?? mimeType} />;
}

export function ImagePart({ image, filename }: ImageMessagePartProps) {
  return <img className="picture" src={image} alt={filename ?? "A picture"} />;
}

export function SourcePart({ url, title }: SourceMessagePartProps) {
  return url !== undefined && /^https?:/.test(url) ? (
    <a className="chip" href={url} target="_blank" rel="noreferrer noopener">
      {title ?? url}
    </a>
  ) : (
    <span className="chip">{title}</span>
  );
}

export function Download({ href, name }: { href: string; name: string }) {
  return href.startsWith("data:") ? (
    <a className="chip" href={href} download={name}>
      <Icon name="file" />
      {name}
    </a>
  ) : (
    <span className="chip">{name}</span>
  );
}
