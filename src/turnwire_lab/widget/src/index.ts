import { h, render } from "preact";

import { App } from "./App";
import { Conversation, type View } from "./conversation";
import { settingsOf, type Options } from "./options.js"; // as whoever reads the types resolves it
import css from "./styles.css?inline";

export { BadOption, type Options, type Position, type Theme } from "./options.js";

export interface Widget {
  readonly element: HTMLElement;
  open: () => void;
  close: () => void;
  /** Take it off the page. A turn that runs goes on for as long as the gateway allows. */
  remove: () => void;
}

const TAG = "turnwire-widget";
const WAS_OPEN = "turnwire-widget-open";

/** Put the widget on the page. Throws `BadOption`. */
export function mount(options: Options): Widget {
  const settings = settingsOf(options);
  const element = document.createElement(TAG);
  const root = element.attachShadow({ mode: "open" });
  // Not a style element: a host page's policy may forbid those, and never forbids this.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  (options.parent ?? document.body).append(element);

  let view: View = {
    ...{ messages: [], busy: false, loading: false, stopping: false },
    ...{ agent: "", notice: null, refused: [] },
  };
  let open = false;
  const draw = () => render(h(App, { settings, conversation, view, open, setOpen }), root);
  const conversation = new Conversation(settings, (changed) => {
    view = changed;
    draw();
  });
  const setOpen = (wanted: boolean): void => {
    open = wanted;
    remember(settings.session, open);
    if (open) conversation.open();
    draw();
  };
  if (settings.open || remembered(settings.session)) setOpen(true);
  else draw();
  return {
    element,
    open: () => setOpen(true),
    close: () => setOpen(false),
    remove: () => {
      conversation.end();
      render(null, root);
      element.remove();
    },
  };
}

// That the panel was open, for a reload.
function remember(session: string, open: boolean): void {
  try {
    if (open) sessionStorage.setItem(WAS_OPEN, session);
    else sessionStorage.removeItem(WAS_OPEN);
  } catch {
    // Storage may be forbidden.
  }
}

function remembered(session: string): boolean {
  try {
    return sessionStorage.getItem(WAS_OPEN) === session;
  } catch {
    return false;
  }
}
