// Prompts that show what the demo's own agent does; an agent of a framework brings its own.

const OWN: [string, string][] = [
  ["what is 12*7?", "runs a calculator"],
  ["search for keepalive", "looks through the project's pages"],
  ["think about rivers", "thinks aloud first"],
  ["ask me: tea or coffee?", "needs your answer"],
  ["approve 12*7", "needs your approval"],
  ["tell me a long story", "leaves time to reload, or to stop"],
  ["make the tool fail", "a tool that gives up"],
  ["make the turn fail", "an answer that breaks off"],
  ["send me a picture", "a file from the agent"],
  ["cite two sources", "links to what it read"],
];

export function triesOf(prompts: [string, string][]): [string, string][] {
  return prompts.length > 0 ? prompts : OWN;
}
