// A data file on its way into the home's data folder: chosen, or dropped on the Data panel. Gradio's own address takes
// it; the server then looks at what arrived.

import { el, setText } from "../../ui/dom.js";
import { acceptDrops } from "../../ui/stray_drops.js";
import { waitWords } from "../../ui/wait_words.js";
import { page, server, shownAt } from "./core.js";

const TELLS_EVERY = 1000; // ms

async function send(file) {
  const body = new FormData();
  body.append("files", file);
  const reply = await fetch("gradio_api/upload", { method: "POST", body });
  if (!reply.ok) throw new Error(reply.status === 413 ? "it is too large" : `the server said ${reply.status}`);
  return { path: (await reply.json())[0], name: file.name };
}

export class Upload {
  // `then`: takes the source of a file that is in the home, and whether it is the corrected one of what is chosen.
  constructor(then) {
    this.then = then;
    this.note = el("p.xs.mut.upload-note", { role: "status" });
    this.input = el("input", { type: "file", accept: page.form.file_suffixes.join(), hidden: true });
    this.input.setAttribute("aria-label", "Data file");
    this.button = el("button.btn", { type: "button" }, "Upload a file");
    this.button.append(this.input);
    this.button.addEventListener("click", (event) => {
      if (event.target !== this.input) this.input.click();
    });
    this.input.addEventListener("change", () => {
      const [file] = this.input.files;
      this.input.value = "";
      if (file) this.take(file);
    });
    this.advise(true);
  }

  // What can be uploaded, as long as nothing else is to be said; `so`: whether files are what is chosen.
  advise(so) {
    if (this.said) return;
    setText(this.note, page.form.upload_advice);
    this.note.hidden = !so;
  }

  // What was said of a file is of no use where another kind of data is chosen.
  forget() {
    this.tell("");
    this.advise(false);
  }

  // Nor where another file is: `source` is the one that is chosen now.
  leave(source) {
    if (!this.said || this.sending || this.source === source) return;
    this.tell("");
    this.advise(source.startsWith("file:"));
  }

  tell(words, wrong = false) {
    this.said = words;
    this.source = null;
    setText(this.note, words);
    this.note.hidden = false;
    this.note.className = `upload-note ${wrong ? "xs verdict-at blocking" : "xs mut"}`;
  }

  // Why nothing new is chosen, and what is instead. `otherwise`: a button that takes it all the same.
  refuse(words, otherwise) {
    const [, stays] = shownAt("data.source").match(/^file:(.+)/) ?? [];
    this.tell(stays ? `${words} ${stays} stays chosen.` : words, true);
    if (otherwise) this.note.append(" ", otherwise);
  }

  take(file) {
    if (file.size > page.form.upload_limit) return this.refuse(tooLarge(file));
    return this.keep(file.name, () => send(file));
  }

  // What arrived is kept. `bring`: resolves to what is said of it to the server.
  async keep(called, bring) {
    const began = Date.now();
    const tell = () => this.tell(waitWords(`Uploading ${called}…`, began));
    tell();
    const ticks = setInterval(tell, TELLS_EVERY);
    this.sending = true;
    try {
      const sent = await bring();
      const got = await server.keep_data_file(sent);
      if (!got || got.sentence)
        return this.refuse(got?.sentence ?? "The server did not answer. Try again.", this.otherwise(sent, got));
      page.form.files = got.files;
      const isCorrected = isOfName(shownAt("data.source"), got.earlier);
      this.tell(isCorrected ? `${got.words} It is read as that was.` : got.words);
      this.source = got.source;
      return this.then(got.source, isCorrected);
    } catch (problem) {
      return this.refuse(`The file did not arrive: ${problem.message}. Try again.`);
    } finally {
      clearInterval(ticks);
      this.sending = false;
    }
  }

  // A file that is another kind of text than its name says is read as what it is.
  otherwise(sent, got) {
    if (!got?.read_as) return null;
    const onclick = () => this.keep(sent.name, () => ({ ...sent, read_as: got.read_as }));
    return el("button.btn.s", { type: "button", onclick }, got.offer);
  }

  // Files that are dropped on `panel` are taken, too.
  listenToDrops(panel) {
    acceptDrops(panel, (files) => this.takeDropped(files));
  }

  takeDropped(files) {
    if (files.length > 1) this.refuse("Drop one file at a time: a run has one.");
    else if (files.length) this.take(files[0]);
    else this.refuse("What was dropped is not a file: perhaps a folder.");
  }
}
// Whether the file that was chosen is the `earlier` one, or one that was uploaded in place of it: sums.csv, sums-2.csv.
const isOfName = (source, earlier) => {
  const plain = (name) => name.replace(/(-\d+)?((\.\w+)+)$/, "$2");
  return !!earlier && (source === earlier || plain(source) === earlier);
};
const tooLarge = (file) =>
  `“${file.name}” is ${Math.ceil(file.size / 1024 / 1024)} MB; ${page.form.upload_limit_words} is the limit. Copy it ` +
  "to the home's data folder instead; then it is in the list.";
