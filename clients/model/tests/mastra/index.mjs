// Stands here so that these names resolve to this folder's packages.
export { Agent } from "@mastra/core/agent";
export { createTool } from "@mastra/core/tools";
export { z } from "zod";
