// Pictures and files. Nothing is loaded from elsewhere: that would tell its host who reads this.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  url: string;
  mediaType: string;
  filename?: string | undefined;
}

const SIDE_MAX = 1600;

export function FilePart({ url, mediaType, filename }: Props) {
  const name = filename === undefined ? `File (${mediaType})` : `${filename} (${mediaType})`;
  const file = (
    <p>
      {/^data:/i.test(url) ? (
        <a href={url} download={filename ?? ""}>
          {name}
        </a>
      ) : (
        <Away url={url}>{name}</Away>
      )}
    </p>
  );
  if (!/^data:image\//i.test(url)) return file;
  return <Picture url={url} name={filename ?? "A picture"} otherwise={file} />;
}

/** A link away from here, if it leads to a page. */
export function Away({ url, children }: { url: string; children: ComponentChildren }) {
  return /^https?:/i.test(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    <>{children}</>
  );
}

// Drawn here, and no img element: a host page's policy may forbid those their `data:` URLs.
function Picture({ url, name, otherwise }: { url: string; name: string; otherwise: ComponentChildren }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [unknown, setUnknown] = useState(false);
  useEffect(() => {
    drawn(url, () => canvas.current).catch(() => setUnknown(true));
  }, [url]);
  return unknown ? otherwise : <canvas ref={canvas} class="picture" role="img" aria-label={name} width={0} height={0} />;
}

async function drawn(url: string, target: () => HTMLCanvasElement | null): Promise<void> {
  const picture = await createImageBitmap(contents(url));
  const canvas = target();
  if (canvas !== null) {
    const scale = Math.min(1, SIDE_MAX / Math.max(picture.width, picture.height));
    canvas.width = Math.ceil(picture.width * scale);
    canvas.height = Math.ceil(picture.height * scale);
    canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    // The log may have to scroll. That of a picture would not bubble.
    canvas.dispatchEvent(new Event("load", { bubbles: true }));
  }
  picture.close();
}

/** Throws if it is no base64: then it is no picture that can be drawn either. */
function contents(url: string): Blob {
  const comma = url.indexOf(",");
  const bytes = Uint8Array.from(atob(url.slice(comma + 1)), (char) => char.charCodeAt(0));
  return new Blob([bytes], { type: url.slice("data:".length, comma).replace(/;.*/, "") });
}
