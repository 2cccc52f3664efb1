import type { Conversation } from "./conversation";
import { triesOf } from "./prompts";

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
        {triesOf(prompts).map(([prompt, what]) => (
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
