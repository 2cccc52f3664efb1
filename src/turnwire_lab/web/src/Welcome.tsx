import type { Conversation } from "./conversation";

const TRY: [string, string][] = [
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

interface Props {
  conversation: Conversation;
  prompts: [string, string][];
}

export function Welcome({ conversation, prompts }: Props) {
  return (
    <section className="welcome" aria-label="Things to try">
      <h2>Any AI SDK client, any agent.</h2>
      <p>
        For teams that run their own agents and want every AI SDK front end to work with them, with no turn lost, doubled or
        left hanging. This page is an unmodified <code>useChat</code>, and its agent never heard of it; turnwire is the
        gateway between the two. Reload in mid-turn, open a second tab, break things.
      </p>
      <ul>
        {(prompts.length > 0 ? prompts : TRY).map(([prompt, what]) => (
          <li key={prompt}>
            <button type="button" onClick={() => void conversation.send({ text: prompt })}>
              <span>{prompt}</span>
              <small>{what}</small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
