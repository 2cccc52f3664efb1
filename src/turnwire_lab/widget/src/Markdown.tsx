// What an agent says is text, and never markup of this page: tokens become elements one by one, no
// text is parsed as HTML, and a picture from elsewhere is a link, since it would tell its host who
// reads this.
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => lexer(text), [text]);
  return <div class="markdown">{all(blocks)}</div>;
}

function all(tokens: Token[] | undefined): ComponentChildren {
  return tokens?.map((token) => one(token as MarkedToken));
}

function one(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case "paragraph":
      return <p>{all(token.tokens)}</p>;
    case "heading":
      // One level for all: the headings of an answer are none of the page's outline.
      return <h3 class={`h${token.depth}`}>{all(token.tokens)}</h3>;
    case "strong":
      return <strong>{all(token.tokens)}</strong>;
    case "em":
      return <em>{all(token.tokens)}</em>;
    case "del":
      return <del>{all(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "code":
      return (
        <pre tabIndex={0} role="group" aria-label={token.lang ? `Code (${token.lang})` : "Code"}>
          <code>{token.text}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote>{all(token.tokens)}</blockquote>;
    case "list":
      return token.ordered ? (
        <ol start={token.start === "" ? 1 : token.start}>{token.items.map(one)}</ol>
      ) : (
        <ul>{token.items.map(one)}</ul>
      );
    case "list_item":
      return <li>{all(token.tokens)}</li>;
    case "table":
      return <Table token={token} />;
    case "link":
      return <Link href={token.href}>{all(token.tokens)}</Link>;
    case "image":
      return <Link href={token.href}>{unescaped(token.text) || token.href}</Link>;
    case "text":
      return token.tokens === undefined ? unescaped(token.text) : all(token.tokens);
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "escape":
      return token.text;
    case "br":
      return <br />;
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    default:
      return token.raw; // raw HTML, and what a newer grammar may know: as it was written
  }
}

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  return /^(https?:|mailto:)/i.test(href) ? (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );
}

function Table({ token }: { token: Tokens.Table }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{token.header.map((cell) => <th scope="col">{all(cell.tokens)}</th>)}</tr>
        </thead>
        <tbody>
          {token.rows.map((row) => (
            <tr>{row.map((cell) => <td>{all(cell.tokens)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** The entities that occur in chats; others stay as they were written. */
function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|(\w{2,4}));/g, (whole, code?: string, name?: string) =>
    code === undefined ? (ENTITIES[name ?? ""] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
