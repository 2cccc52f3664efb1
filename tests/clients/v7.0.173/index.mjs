// Stands here so that these names resolve to this folder's packages.
export * as ai from "ai";
export { Chat } from "@ai-sdk/react";
export const found = ["ai", "@ai-sdk/react", "zod"].map((name) => import.meta.resolve(name));
