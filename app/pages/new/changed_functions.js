// Reward functions that a new run takes as they are now, though the run that it is begun from had other code: said, and
// one click takes that run's version.

import { el } from "../../ui/dom.js";
import { edit, plainAt } from "./core.js";

const list = (value) => (Array.isArray(value) ? value : []);
// Where the newest version of a function is taken: “rewards.0”, “stages.1.rewards.0”.
function newestPlaces(name) {
  const ofStages = list(plainAt("stages")).map((stage, n) => [`stages.${n}.rewards`, stage?.rewards]);
  return [["rewards", plainAt("rewards")], ...ofStages].flatMap(([path, rewards]) =>
    list(rewards).flatMap((one, n) => (one?.name === name && !one.version ? [`${path}.${n}`] : [])),
  );
}

// Those of the arrival's changed functions of which the newest version is taken now.
export const changedStanding = ({ newer = [] }) => newer.filter(({ name }) => newestPlaces(name).length > 0);

export function changedLine({ name, hash, has }, run) {
  const since = `“${name}” has changed since that run. `;
  if (!has) {
    const read = el("a", { href: `/run?id=${encodeURIComponent(run.id)}&tab=config` }, "read it in its Config");
    return el("p.s.warn", `${since}The code that run had is not in your library: `, read, ".");
  }
  const use = el("button.btn.s.fix", { type: "button" }, `Use that run’s version of ${name}`);
  use.addEventListener("click", () => {
    use.disabled = true;
    edit(newestPlaces(name).map((path) => ({ path: `${path}.version`, value: hash })));
  });
  return el("div.row.tight.wrap", el("p.s.warn", `${since}This one takes it as it is now.`), use);
}
