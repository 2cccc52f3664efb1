// Stands here so that these names resolve to this folder's packages. React looks for a page when it is imported.
import { Window } from "happy-dom";

globalThis.window = new Window();
globalThis.document = window.document;
globalThis.navigator ??= window.navigator;

export const ai = await import("ai");
export const { createElement } = await import("react");
export const { createRoot } = await import("react-dom/client");
export const { AssistantRuntimeProvider } = await import("@assistant-ui/react");
export const { AssistantChatTransport, useChatRuntime } = await import("@assistant-ui/react-ai-sdk");
export const found = ["ai", "@ai-sdk/react", "@assistant-ui/react", "@assistant-ui/react-ai-sdk"].map(
  (name) => import.meta.resolve(name),
);
