// Stands here so that these names resolve to this folder's packages.
import * as sdk from "@ai-sdk/vue";
import * as vue from "vue";

import { ofVue } from "../vue.mjs";

export * as ai from "ai";
export const { Chat } = sdk;
export const open = ofVue(vue, sdk);
export const found = ["ai", "@ai-sdk/vue", "vue", "zod"].map((name) => import.meta.resolve(name));
