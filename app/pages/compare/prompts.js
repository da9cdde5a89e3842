// The same prompts: a table of how each run did on them, and one of them with each run's latest completion.

import { el, setHtml } from "../../ui/dom.js";
import { countWords, number, percent, wholeNumber } from "../../ui/number.js";
import { dotted } from "../../ui/text.js";
import { mostWords } from "./measure.js";
import { head, named } from "./tables.js";

// The share solved, “–” at an end whose stage had nothing that says what is right; where neither has, the mean reward.
export const isSolvedKnown = ({ first, last }) => [first, last].some(({ solved }) => solved !== null);
const course = (one) => {
  const known = isSolvedKnown(one);
  const result = ({ solved, mean }) => (known ? (solved === null ? "–" : percent(solved)) : number(mean));
  const words = one.first.group === one.last.group ? [one.last] : [one.first, one.last];
  return `${known ? "" : "reward "}${words.map(result).join(" → ")}`;
};

// `differs`: what is another in this run's prompt, though it asks the same.
function cell(one, differs) {
  if (!one) return el("td.mut", "not in this run");
  const { first, last, held_out: heldOut } = one;
  const at = (end) => `${number(end.mean)} at step ${end.step.toLocaleString("en")}`;
  const level = Math.max(0, Math.min(1, last.solved ?? 0)) * 40;
  return el(
    "td",
    {
      style: `background:color-mix(in srgb, var(--high) ${level.toFixed(0)}%, transparent)`,
      title: `mean reward ${[...new Set([at(first), at(last)])].join(", ")}`,
    },
    course(one),
    heldOut ? el("span.xs", " held out") : null,
    differs ? el("span.xs.mut", ` · ${differs}`) : null,
  );
}

// Prompts stay where they stood before, new ones behind them: which were had most changes while a run trains.
export function keepPlaces(rows, before) {
  const places = new Map(before.map(({ hash }, place) => [hash, place]));
  const place = ({ hash }) => places.get(hash) ?? places.size;
  return [...rows].sort((a, b) => place(a) - place(b));
}
export function drawTable(node, runs, rows, current, choose) {
  const focused = node.contains(document.activeElement) ? document.activeElement.dataset.hash : null;
  node.replaceChildren(
    head("prompt", runs),
    el(
      "tbody",
      ...rows.map((row) =>
        el(
          "tr",
          { "aria-current": row.hash === current ? "true" : null },
          el(
            "th",
            { scope: "row" },
            el(
              "button.link",
              { dir: "auto", "data-hash": row.hash, title: row.prompt, onclick: () => choose(row.hash) },
              row.prompt || "(empty)",
            ),
          ),
          ...row.runs.map((one, i) => (runs[i]?.there ? cell(one, row.differs?.[i]) : null)).filter(Boolean),
        ),
      ),
    ),
  );
  if (focused) [...node.querySelectorAll("[data-hash]")].find((one) => one.dataset.hash === focused)?.focus();
}

function inWords(one) {
  if (!one.first) return ["No group of it counts any more."];
  const share = (solved) => (solved === null ? "" : `${percent(solved)} solved, `);
  const end = (name, { step, solved, mean }) =>
    [`${name}, step ${step.toLocaleString("en")}: `, share(solved), `reward ${number(mean)}`].join("");
  if (one.groups === 1) return [end(one.held_out ? "held out, evaluated once" : "seen once", one.last)];
  const groups = `${countWords(one.groups, "group")}${one.held_out ? " of evaluations: held out" : ""}`;
  return [end("first", one.first), end("last", one.last), groups];
}

// Which completion it is: of several of the last group neither the best nor the worst.
function which({ step, of }) {
  const place = of > 1 ? `: the ${of > 2 ? "middle" : "lower"} of ${of} by reward` : "";
  return `latest, step ${wholeNumber(step)}${place}`;
}
const reward = (latest, most) => el("span.s.mut", "latest ", el("b", { title: "reward" }, number(latest.reward)), most);
function card(runs, run, one) {
  const { latest, best } = one ?? {};
  const top = el("header", named(run), latest ? reward(latest, mostWords(runs, run)) : null);
  if (!one) return el("article.comp.none", top, el("p.s.mut", "It did not have this prompt."));
  const address = (more) => `/run?${new URLSearchParams({ id: run.id, tab: "groups", ...more })}`;
  const inGroup = ({ step, group, idx }) => address({ step, group, idx });
  const said = el("pre", { dir: "auto", tabindex: "0" });
  if (latest) setHtml(said, latest.html);
  const bestWords = () => `best: step ${wholeNumber(best.step)}, ${number(best.reward)}`;
  const links = [
    latest ? el("a", { href: inGroup(latest) }, "Its group") : null,
    best ? el("a", { href: inGroup(best) }, bestWords()) : null,
    el("a", { href: address({ prompt: one.number }) }, "Over time"),
  ];
  return el(
    "article.comp",
    top,
    el("p.s.mut.ends", ...[...inWords(one), one.differs].filter(Boolean).map((words) => el("span", words))),
    latest ? said : null,
    el(
      "footer.s.mut",
      el(
        "div",
        latest ? dotted(which(latest), countWords(latest.tokens, "token")) : "Its completions are not recorded.",
        latest?.truncated ? el("span.warn", " · truncated") : null,
      ),
      latest?.cut ? el("div", latest.cut) : null,
      el("div.links", ...links),
    ),
  );
}

export function drawPrompt(node, runs, found) {
  node.replaceChildren(
    el("div.panel.asked", el("pre.asked", { dir: "auto", tabindex: "0" }, found.prompt)),
    el("div.cards", ...runs.map((run, i) => (run.there ? card(runs, run, found.runs[i]) : null)).filter(Boolean)),
  );
}
