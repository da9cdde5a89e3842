// Questions to the worker: the server passes each on, and is asked for the answer until there is one.

import { sayLast } from "./part.js";
import { waitWords } from "./wait_words.js";

const FIRST_PAUSE = 25; // ms, and longer each time
const LONGEST_PAUSE = 400;
const MOST_TIMES = 3; // asked again where the question is gone, though nobody here cancelled it

const pass = (ms) => new Promise((done) => setTimeout(done, ms));
// What a function of the server answers; undefined where it does not.
async function answerOf(asked) {
  try {
    return await asked;
  } catch (problem) {
    console.warn(problem);
    return undefined;
  }
}

// In each lane only the newest question counts: the one before it is cancelled. A page that is left takes back what it
// asked, also what the server has not confirmed yet: others would wait for what nobody hears. One that comes back as it
// was asks again.
export class WorkerQuestions {
  // `server`: has ask_worker, read_answer, cancel_question and cancel_all.
  constructor(server) {
    this.server = server;
    this.topic = Math.random().toString(36).slice(2); // with which those of all its lanes begin
    this.turns = {};
    this.running = {};
    this.asking = new Set(); // lanes
    addEventListener("pagehide", () => this.leave());
  }

  leave() {
    if (this.asking.size) sayLast("cancel_all", { topic: this.topic });
    this.running = {};
    this.back = new Promise((done) => addEventListener("pageshow", done, { once: true }));
  }

  // Resolves to {answer, question}; {sentence} where the server refused; {lost: true} where it brings no answer;
  // undefined where a newer one took its place. `waiting` hears how far the worker is: {waiting, done, total}, with how
  // long that lasts. An older question of the same topic that reaches the server after this one withdraws it: it is
  // asked again.
  async ask(lane, payload, waiting = () => {}) {
    this.stop(lane);
    const turn = this.turns[lane];
    this.asking.add(lane);
    const got = await this.askAgain(lane, turn, payload, waiting);
    if (this.turns[lane] === turn) this.asking.delete(lane);
    return got;
  }

  async askAgain(lane, turn, payload, waiting) {
    for (let times = 0; times < MOST_TIMES;) {
      const got = await this.askOnce(lane, turn, payload, waiting);
      if (!got?.gone && !got?.left) return got;
      if (got.left) await this.back; // what goes on of a page that is gone asks nothing
      else times += 1;
    }
    return { lost: true };
  }

  async askOnce(lane, turn, payload, waiting) {
    const { back } = this;
    const asked = await answerOf(this.server.ask_worker({ ...payload, topic: this.topic + lane }));
    if (this.turns[lane] !== turn) {
      if (asked?.question) this.server.cancel_question({ question: asked.question });
      return undefined;
    }
    if (this.back !== back) return { left: true };
    if (!asked?.question) return asked?.sentence ? { sentence: asked.sentence } : { lost: true };
    this.running[lane] = asked.question;
    return this.await(lane, turn, asked, waiting);
  }

  // {gone: true} where the question was withdrawn or forgotten; {left: true} where the page was left and is back; else
  // what `ask` resolves to.
  async await(lane, turn, { question, left_out }, waiting) {
    const began = Date.now();
    for (let pause = FIRST_PAUSE; this.turns[lane] === turn; pause = Math.min(pause * 1.3, LONGEST_PAUSE)) {
      const now = await answerOf(this.server.read_answer({ question, left_out }));
      if (this.turns[lane] !== turn) return undefined;
      if (this.running[lane] !== question) return { left: true };
      if (now?.answer || now?.gone) delete this.running[lane];
      if (now?.answer) return { answer: now.answer, question };
      if (now?.gone) return { gone: true };
      if (now?.waiting) waiting({ ...now, waiting: waitWords(now.waiting, began) });
      await pass(pause);
    }
    return undefined;
  }

  // Nobody waits in this lane any more: the worker need not go on.
  stop(lane) {
    this.turns[lane] = (this.turns[lane] ?? 0) + 1;
    this.asking.delete(lane);
    if (this.running[lane]) this.server.cancel_question({ question: this.running[lane] });
    delete this.running[lane];
  }
}
