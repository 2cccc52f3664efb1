// What <script src=".../widget.js" data-…> runs.
import { mount } from "./index";
import { BadOption, optionsOf } from "./options";

const script = document.currentScript;

function start(): void {
  try {
    if (!(script instanceof HTMLScriptElement)) throw new BadOption("it is no module: leave out type=module");
    mount(optionsOf(script.dataset));
  } catch (error) {
    if (!(error instanceof BadOption)) throw error;
    console.error(`turnwire widget: ${error.message}`);
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
