// Searching all settings by their name, label, path and help, and by what people call them elsewhere. Pure.

// What a setting is called elsewhere, by its path.
const ADAPTIVE = ["adaptive kl", "kl controller", "adaptive beta"];
const ELSEWHERE = {
  "training.report_to": ["tracker", "tracking", "wandb", "weights & biases", "trackio", "tensorboard", "mlflow"],
  "training.max_completion_length": ["max new tokens", "max tokens", "response length"],
  "training.num_generations": ["rollouts", "samples per prompt"],
  "training.beta": ["kl coef", "kl penalty"],
  "training.learning_rate": ["lr"],
  "training.per_device_train_batch_size": ["batch size"],
  "training.epsilon": ["clip range", "clip ratio"],
  "training.max_grad_norm": ["gradient clipping", "grad clip"],
  "training.optim": ["optimizer"],
  "kl.target": [...ADAPTIVE, "kl target", "desired kl"],
  "kl.rate": ADAPTIVE,
  "kl.least": [...ADAPTIVE, "min beta"],
  "kl.most": [...ADAPTIVE, "max beta"],
  "lora.r": ["rank"],
  "lora.lora_alpha": ["alpha", "scaling"],
  "data.holdout": ["eval split", "eval rows", "test size", "validation"],
};

// --top_p is how a command line has it.
const plain = (asked) => asked.trim().toLowerCase().replace(/^--/, "");
// The words of a name in an order of their own: “rank lora” is “LoRA rank”.
const keyOf = (words) =>
  words
    .toLowerCase()
    .split(/[\s._-]+/)
    .sort()
    .join(" ");
const others = ({ path }) => ELSEWHERE[path] ?? [];
// All that a setting is called: of these a match comes before one in its help.
const calledOf = (one) => [one.name, one.label, one.path, ...others(one)].join(" ").toLowerCase();
const wordsOf = (one) => `${calledOf(one)} ${one.advice} ${one.help}`.toLowerCase();

// What is to be said of a setting that there is no longer, if that is what is asked for; `removed`: name → sentence.
export const removedAs = (asked, removed) => removed[plain(asked).replace(/[\s-]+/g, "_")];

// What finds a part of what is asked for where a word begins: “solution” is not in “resolution”. Words of a name may be
// apart by another sign: max-steps is max_steps.
function atWordBeginning(part) {
  const words = part.split(/[_-]+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`(?<![\\p{L}\\p{N}])${words.join("[\\s_-]")}`, "u");
}

// Of these settings those that have every word that is asked for, in any order: the one of this name first, then what
// is called so elsewhere, then those whose name begins with it, then those that are called by it, then the rest.
export function matching(settings, asked) {
  const words = plain(asked);
  const parts = words.split(/\s+/).filter(Boolean).map(atWordBeginning);
  const has = (text) => parts.every((part) => part.test(text));
  const hits = settings.filter((one) => has(wordsOf(one)));
  const key = keyOf(words);
  const isKey = (name) => keyOf(name) === key;
  const rank = (one) => {
    if ([one.name, one.label, one.path].some(isKey)) return 0;
    if (others(one).some(isKey)) return 1;
    if (one.name.search(parts[0]) === 0 && has(calledOf(one))) return 2;
    return has(calledOf(one)) ? 3 : 4;
  };
  return hits.sort((a, b) => rank(a) - rank(b));
}
