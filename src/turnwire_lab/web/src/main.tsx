import "./strict";

import { createRoot } from "react-dom/client";

import { App } from "./App";
import { loadSetup } from "./lab";
import "./styles/tokens.css";
import "./styles/layout.css";
import "./styles/thread.css";
import "./styles/cards.css";
import "./styles/wire.css";

const root = createRoot(document.getElementById("root") as HTMLElement);

loadSetup().then(
  (setup) => root.render(<App setup={setup} />),
  () =>
    root.render(
      <main className="unreachable">
        <h1>The demo is not running</h1>
        <p>Start it again with <code>make demo</code>, and load this page again.</p>
      </main>,
    ),
);
