// Stands here so that these names resolve to this folder's packages.
//
// The transport asks for `workflow` as a peer, a server framework of 450 packages that its client
// half never loads: .npmrc leaves it out. Its `ai` is older than the newest chat's; the overrides
// give both the same copy.
export { Chat } from "@ai-sdk/react";
export { WorkflowChatTransport } from "@ai-sdk/workflow/client";
