// Markdown without raw HTML: what an agent says is text, and never markup of this page.
import Markdown, { type MarkdownToJSX } from "markdown-to-jsx/react";
import type { ComponentProps, ReactNode } from "react";

const OPTIONS: MarkdownToJSX.Options = {
  disableParsingRawHTML: true,
  forceBlock: true,
  optimizeForStreaming: true,
  overrides: { a: Link, img: Picture, table: Table },
};

export function Text({ text, status }: { text: string; status?: { type: string } }) {
  return (
    <div className="markdown" data-streaming={status?.type === "running"}>
      <Markdown options={OPTIONS}>{text}</Markdown>
    </div>
  );
}

function Link({ href, children }: { href?: string; children?: ReactNode }) {
  return href !== undefined && /^https?:/.test(href) ? (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );
}

// A picture from elsewhere would tell its host who reads this: it is a link instead.
function Picture({ src, alt }: { src?: string; alt?: string }) {
  return src?.startsWith("data:image/") ? <img src={src} alt={alt ?? ""} /> : <Link {...(src && { href: src })}>{alt || src}</Link>;
}

function Table(props: ComponentProps<"table">) {
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Table">
      <table {...props} />
    </div>
  );
}
