// YAML and Python in colours, as spans: enough to read by, in one pass. All that is not coloured is plain text.

import { el } from "./dom.js";

const MOST = 200000; // characters of Python that are coloured: a page with more spans would be slow

// The text of a file as nodes, by its name.
export function coloured(name, text) {
  if (name.endsWith(".yaml")) return colouredYaml(text);
  return name.endsWith(".py") && text.length <= MOST ? colouredPython(text) : [text];
}

export function colouredYaml(text) {
  return text.split(/(\n)/).flatMap((line) => {
    if (line === "\n") return [line];
    const [, indent, key, colon, rest] = line.match(/^(\s*(?:- )*)([\w.]+)(:)(.*)$/) ?? [null, "", "", "", line];
    const hash = rest.search(/(^|\s)#/);
    const [value, comment] = hash < 0 ? [rest, ""] : [rest.slice(0, hash), rest.slice(hash)];
    return [indent, key && el("span.code-key", key), colon, value, comment && el("span.code-comment", comment)].filter(
      Boolean,
    );
  });
}

const WORDS = [
  "and as assert async await break class continue def del elif else except finally for from global if import in is",
  "lambda nonlocal not or pass raise return try while with yield True False None",
];
const SPANS = {
  string: "span.code-string",
  comment: "span.code-comment",
  keyword: "span.code-keyword",
  number: "span.code-number",
};
const PREFIX = String.raw`(?:\b[rRbBfFuU]{1,2})?`;
// One that does not end is a string to the end of its line; in three quotes, to the end of the text.
const STRINGS = [/"""[^]*?(?:"""|$)/, /'''[^]*?(?:'''|$)/, /"(?:\\[^]|[^"\\\n])*"?/, /'(?:\\[^]|[^'\\\n])*'?/];
const PYTHON = new RegExp(
  [
    `(?<string>${PREFIX}(?:${STRINGS.map(({ source }) => source).join("|")}))`,
    "(?<comment>#.*)",
    String.raw`\b(?<keyword>${WORDS.join(" ").replaceAll(" ", "|")})\b`,
    String.raw`(?<number>\b\d[\w.]*(?:(?<=[eE])[+-]\d+)?)`,
  ].join("|"),
  "g",
);

function colouredPython(text) {
  const nodes = [];
  let from = 0;
  for (const { 0: words, index, groups } of text.matchAll(PYTHON)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    nodes.push(text.slice(from, index), el(SPANS[kind], words));
    from = index + words.length;
  }
  return [...nodes, text.slice(from)].filter(Boolean);
}
