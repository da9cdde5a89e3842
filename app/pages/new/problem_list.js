// What is wrong with a spec, of what the app found and what the worker answered: each thing once, what blocks first.
// `answers`: of the worker, about the settings as they are now, each {problems}; `lines`: of each field. Pure.

const ONE = "“[^”]*”(?: of “[^”]*”)?";
// As storage.spec.words.problem has it.
const THEN = new RegExp(`^Once (that|all problems|${ONE}(?: and ${ONE})?) (is|are) fixed: `);
const GRAVE = ["blocking", "warning", "advice"];
const grave = ({ level }) => GRAVE.indexOf(level);
const place = ({ line }) => line || Number.MAX_SAFE_INTEGER;

// What the worker says has no line: that of its field, or of the part that the field would stand in.
function placed(problem, lines) {
  if (problem.line || !problem.field) return problem;
  const path = problem.field.split(".");
  const places = path.map((_, n) => path.slice(0, path.length - n).join("."));
  const line = places.map((one) => lines?.[one]).find(Boolean);
  return line ? { ...problem, line } : problem;
}

// What the first look at the data finds, the check of all rows finds again, and what keeps the one from a prompt keeps
// the other from it, too: it is said once.
function saidOnce(answers) {
  const isTold =
    ({ field, message }) =>
    (one) =>
      one.field === field && ((field && one.level === "blocking") || one.message === message);
  return answers.flatMap((said, n) =>
    said.problems.filter((one) => !answers.slice(0, n).some((other) => other.problems.some(isTold(one)))),
  );
}

// Of a text that cannot be read yet, what the worker says, too: of fields of which nothing is said so far, and without
// buttons, as there are no settings to change yet.
// `answered`: the places that a misspelt name offers its value for.
export function problemsOfUnreadable(problems, answers, lines, answered = []) {
  const known = new Set([...problems.map(({ field }) => field), ...answered]);
  const isNew = ({ field, level }) => level !== "advice" && field && !known.has(field);
  const more = saidOnce(answers).filter(isNew);
  const all = [...problems, ...more.map((one) => ({ ...placed(one, lines), fixes: [] }))];
  return whatBlocksFirst(all);
}

// What came of a call of a function says more than what its code lets one expect.
const isDoubt = (field, level) => level === "warning" && /^rewards\.\d+\.name$/.test(field);
export function allProblems(view, answers, lines) {
  const said = (problem) =>
    !isDoubt(problem.field, problem.level) &&
    view.problems.some((other) => other.field === problem.field && problem.field && grave(other) <= grave(problem));
  // nor is anything said of what is not set where a misspelt name or part offers to set it: as the app does with what
  // it finds itself (storage.spec.words.setting_names.without_answered)
  const isAnswered = ({ field }) => {
    const path = `${field.replace(/^stages\.\d+\./, "")}.`;
    return view.answered.some((one) => path.startsWith(`${one}.`));
  };
  // nor that a setting is not set, where what it is set to cannot be used as it is
  const wrong = new Set(view.problems.filter(({ level }) => level === "blocking").map(({ field }) => field));
  const isUnset = (field, { settings, removed }) =>
    !removed?.includes(field) && Object.keys(settings ?? {}).some((path) => path !== field && wrong.has(path));
  const follows = ({ field, fixes }) => fixes?.some((fix) => isUnset(field, fix)); // launch.py has the same rule
  const news = saidOnce(answers).filter((problem) => !said(problem) && !isAnswered(problem) && !follows(problem));
  // where the worker knows something graver, the app's advice is what it would have said without
  const outdone = ({ field, level }) =>
    field && (level === "advice" || isDoubt(field, level)) && news.some((other) => other.field === field);
  const kept = view.problems.filter((problem) => !outdone(problem));
  return withoutRefused([...kept, ...news.map((one) => placed(one, lines))]);
}

// As they are listed: each level as one meets it in the text, then what has no line (problem.py has the same).
const whatBlocksFirst = (all) => all.toSorted((a, b) => grave(a) - grave(b) || place(a) - place(b));

function withoutRefused(all) {
  // what blocks at a field is not said there again as a warning or as advice
  const blocked = new Set(all.filter(({ level }) => level === "blocking").map(({ field }) => field));
  // nor is a rate called unusual while the model is refused, by whose size it would be (without_advice_on_refused)
  const noModel = [...blocked].some((field) => /^model(\.|$)/.test(field));
  const isOfRefused = (field) => blocked.has(field) || (noModel && field.endsWith(".learning_rate"));
  // but what is to be known of the value that the button there writes is no word on the one that is refused
  const isOfNow = ({ message }) => !THEN.test(message);
  const shown = all.filter((one) => one.level === "blocking" || !one.field || !isOfNow(one) || !isOfRefused(one.field));
  return whatBlocksFirst(shown);
}
