// What the demo's own server says and takes: the token, the wire, the faults.

export type Fault =
  | "agent-dies"
  | "agent-hangs"
  | "agent-floods"
  | "agent-babbles"
  | "slow-client"
  | "gateway-restarts"
  | "agent-killed";

export interface Setup {
  token: string;
  session: string;
  wire: string;
  /** The framework of the agent; empty for an agent of the lab. */
  agent: string;
  prompts: [string, string][];
  faults: Fault[];
}

export async function loadSetup(): Promise<Setup> {
  const response = await fetch("/lab/setup");
  if (!response.ok) throw new Error(`setup: ${response.status}`);
  return (await response.json()) as Setup;
}

export function authorization(setup: Setup): Record<string, string> {
  return { authorization: `Bearer ${setup.token}` };
}

export async function plan(setup: Setup, session: string, fault: Fault): Promise<void> {
  await fetch("/lab/faults", {
    method: "POST",
    headers: { ...authorization(setup), "content-type": "application/json" },
    body: JSON.stringify({ session, fault }),
  });
}
