// A live part of a page. Its module is run once its element is there, and takes from here what Gradio gives it.

const parts = new Map();

// Called by mount.js: `name` is the part's module, as seen from app, without “.js”.
export function mount(name, given) {
  parts.set(name, given);
  return import(`../${name}.js`);
}

// {element, server}: what the part is drawn in, and the functions of the server that it may call.
export const part = (name) => parts.get(name);
