// Stands here so that these names resolve to this folder's packages. All are imported after the hooks are there.
import { register } from "node:module";

register("../svelte.mjs", import.meta.url, { data: import.meta.url });
const { ofSvelte } = await import("../open.svelte.js");

export const ai = await import("ai");
export const { Chat } = await import("@ai-sdk/svelte");
export const open = ofSvelte(Chat);
export const found = ["ai", "@ai-sdk/svelte", "svelte", "zod"].map((name) => import.meta.resolve(name));
