// A draft of New run whose data is not mapped yet is tried as New run would map it. The draft itself stays as it is.

import { call } from "./core.js";
import { plain } from "./text.js";

const mapped = new Map(); // {a draft's text: {text: with its data mapped, guess}}

export const mappedText = (text) => mapped.get(text)?.text ?? text;
export const guessOfDraft = (text) => mapped.get(text)?.guess ?? null;
// Takes what the preview suggests where the rows cannot be read without it; whether that is anything new.
export async function mapDraft(text, { guess = {}, problems = [] }) {
  const isWrong = problems.some(({ level }) => level === "blocking");
  if (mapped.has(text) || !isWrong || !Object.keys(guess).length) return false;
  const got = await call("map_data", { text, settings: guess }, () => {});
  if (!got || got.text === text) return false;
  mapped.set(text, { text: got.text, guess });
  return true;
}
// A mapping as a sentence: Prompt from “Aufgabe”, answer from “Lösung”.
export function mappingWords(guess) {
  const named = [...(guess?.["data.prompt_template"] ?? "").matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name);
  const prompts = guess?.["data.prompt_column"] ? [guess["data.prompt_column"]] : named;
  const answer = guess?.["data.answer_column"];
  const quoted = (name) => `“${plain(name)}”`;
  const prompt = prompts.length ? `Prompt from ${prompts.map(quoted).join(" and ")}` : "";
  if (!answer) return prompt && `${prompt}.`;
  return `${prompt ? `${prompt}, answer` : "Answer"} from ${quoted(answer)}.`;
}
