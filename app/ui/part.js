// A live part of a page. Its module is run once its element is there, and takes from here what Gradio gives it.

import { guardDoubleClicks } from "./double_click.js";
import { guardStrayDrops } from "./stray_drops.js";

const parts = new Map();
guardDoubleClicks();
guardStrayDrops();

// Called by mount.js: `name` is the part's module, as seen from app, without “.js”.
export function mount(name, given) {
  parts.set(name, given);
  return import(`../${name}.js`);
}

// What the part is drawn in, how a node in it is found, and the functions of the server that it may call.
export function part(name) {
  const { element, server } = parts.get(name);
  const root = element.querySelector(".gw");
  return { root, find: (selector) => root.querySelector(selector), server };
}
// Says something to the server as the page is left: it is sent though the page is gone, and nobody hears the answer.
export function sayLast(name, payload) {
  const has = ({ props }) => props?.server_fns?.includes(name);
  const body = { component_id: window.gradio_config.components.find(has)?.id, fn_name: name, data: payload };
  const sent = new Blob([JSON.stringify(body)], { type: "application/json" });
  navigator.sendBeacon("gradio_api/component_server/", sent);
}
// Of a part that is `late` (app/ui/live.py): its buttons are wired, and what was clicked before can be done.
export const takeClicks = (root) => root.dispatchEvent(new Event("groupwise:ready", { bubbles: true }));
// And all that it shows at first is there.
export function tellReady(root) {
  root.dataset.ready = "yes";
  takeClicks(root);
}
