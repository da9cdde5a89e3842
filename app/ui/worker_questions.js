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
    // lane → what is asked in it: {question: its number, once the server has said it; over: nobody waits for it any
    // more; back: the page was left meanwhile, and until it resolves nobody sees it}
    this.lanes = new Map();
    addEventListener("pagehide", () => this.leave());
  }

  leave() {
    if (this.lanes.size) sayLast("cancel_all", { topic: this.topic });
    const back = new Promise((done) => addEventListener("pageshow", done, { once: true }));
    for (const asked of this.lanes.values()) Object.assign(asked, { question: null, back });
  }

  // Resolves to {answer, question}; {sentence} where the server refused; {lost: true} where it brings no answer;
  // undefined where a newer one took its place. `waiting` hears how far the worker is: {waiting, done, total}, with how
  // long that lasts. An older question of the same topic that reaches the server after this one withdraws it: it is
  // asked again.
  async ask(lane, payload, waiting = () => {}) {
    this.stop(lane);
    const asked = { question: null, over: false, back: null };
    this.lanes.set(lane, asked);
    const got = await this.askAgain(asked, { ...payload, topic: this.topic + lane }, waiting);
    if (!asked.over) this.lanes.delete(lane);
    return got;
  }

  async askAgain(asked, payload, waiting) {
    for (let times = 0; times < MOST_TIMES;) {
      const got = await this.askOnce(asked, payload, waiting);
      if (!got?.gone && !got?.left) return got;
      if (got.gone) times += 1;
      await asked.back; // what goes on of a page that is gone asks nothing
      asked.back = null;
    }
    return { lost: true };
  }

  async askOnce(asked, payload, waiting) {
    const said = await answerOf(this.server.ask_worker(payload));
    if (asked.over) {
      if (said?.question) this.server.cancel_question({ question: said.question });
      return undefined;
    }
    if (asked.back) return { left: true };
    if (!said?.question) return said?.sentence ? { sentence: said.sentence } : { lost: true };
    asked.question = said.question;
    return this.await(asked, said, waiting);
  }

  // {gone: true} where the question was withdrawn or forgotten; {left: true} where the page was left; else what `ask`
  // resolves to.
  async await(asked, { question, left_out }, waiting) {
    const began = Date.now();
    for (let pause = FIRST_PAUSE; !asked.over; pause = Math.min(pause * 1.3, LONGEST_PAUSE)) {
      const now = await answerOf(this.server.read_answer({ question, left_out }));
      if (asked.over) return undefined;
      if (asked.back) return { left: true };
      if (now?.answer || now?.gone) asked.question = null;
      if (now?.answer) return { answer: now.answer, question };
      if (now?.gone) return { gone: true };
      if (now?.waiting) waiting({ ...now, waiting: waitWords(now.waiting, began) });
      await pass(pause);
    }
    return undefined;
  }

  // Nobody waits in this lane any more: the worker need not go on.
  stop(lane) {
    const asked = this.lanes.get(lane);
    if (!asked) return;
    asked.over = true;
    this.lanes.delete(lane);
    if (asked.question) this.server.cancel_question({ question: asked.question });
  }
}
