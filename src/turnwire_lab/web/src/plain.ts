// Markdown as it is read aloud: its words, without the signs around them.
import { type MarkdownToJSX, parser, RuleType } from "markdown-to-jsx/react";

const INLINE = new Set<number>([RuleType.text, RuleType.textFormatted, RuleType.codeInline, RuleType.link]);

export function plain(markdown: string): string {
  const nodes = parser(markdown, { disableParsingRawHTML: true, forceBlock: true });
  return nodes.map(words).join("").replace(/\s+/g, " ").trim();
}

function words(node: MarkdownToJSX.ASTNode): string {
  return INLINE.has(node.type) ? inside(node) : ` ${inside(node)} `;
}

function inside(node: MarkdownToJSX.ASTNode): string {
  if (node.type === RuleType.refCollection || node.type === RuleType.ref) return "";
  if (node.type === RuleType.image) return node.alt ?? "";
  if (node.type === RuleType.table) {
    return [node.header, ...node.cells].flat().map((cell) => cell.map(words).join("")).join(" ");
  }
  if ("items" in node) return node.items.map((item) => item.map(words).join("")).join(" ");
  if ("children" in node) return (node.children ?? []).map(words).join("");
  return "text" in node && typeof node.text === "string" ? node.text : "";
}
