// What users add to pi: a question before files are removed, and a command without a model.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("tool_call", async (event, ctx) => {
    const command = event.toolName === "bash" ? String(event.input.command) : "";
    if (!command.startsWith("rm ")) return;
    const isAllowed = await ctx.ui.confirm("Remove it?", command);
    if (!isAllowed) return { block: true, reason: "The user said no" };
  });
  pi.registerCommand("greet", {
    description: "Says hello without a model",
    handler: async (_args, ctx) => ctx.ui.notify("Hello from the extension", "info"),
  });
}
