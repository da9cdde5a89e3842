// All settings of TRL's GRPOConfig and PEFT's LoraConfig: search, then sections; those that were changed stand first.
function drawAllSettings() {
  const all = page.form.fields.filter((one) => one.section);
  const box = find(".all input[type=search]"), list = find(".all .found");
  const sections = [...new Set(all.map((one) => one.section))];
  let drawn = null;

  const words = (one) => `${one.name} ${one.label} ${one.advice} ${one.help} ${one.flag}`.toLowerCase();
  const index = all.map((one) => [one, words(one)]);

  function matching(asked) {
    const parts = asked.toLowerCase().replace(/^--/, "").split(/\s+/).filter(Boolean);
    const hits = index.filter(([, text]) => parts.every((part) => text.includes(part))).map(([one]) => one);
    const rank = (one) => (one.name === asked ? 0 : one.name.startsWith(parts[0]) ? 1 : one.name.includes(parts[0]) ? 2 : 3);
    return hits.sort((a, b) => rank(a) - rank(b));
  }
  const cards = (which) => el("div", { class: "cards" }, ...which.map((one) => field(one, { full: true })));

  function details(title, which, open = false) {
    const node = el("details", open ? { open: true } : {}, el("summary", {}, title, " ", el("span", { class: "mut xs" }, String(which.length))));
    const fill = () => { if (node.open && !node.querySelector(".cards")) { node.append(cards(which)); showProblems(); } };
    node.addEventListener("toggle", fill);
    fill();
    return node;
  }

  function draw(asked = box.value.trim()) {
    const changed = all.filter((one) => shownAt(one.path) !== "" && shownAt(one.path) !== one.default);
    const key = asked || `sections ${changed.map((one) => one.path)}`;
    if (key === drawn) return;
    if (!asked && list.contains(document.activeElement)) return; // someone is typing there
    drawn = key;
    forget(list);
    if (asked) {
      const hits = matching(asked);
      say(find(".all .count"), hits.length ? `${hits.length} of ${all.length}` : "");
      const nothing = el("p", { class: "s mut" }, `No setting has “${asked}” in its name or help. Try a shorter word.`);
      list.replaceChildren(hits.length ? cards(hits.slice(0, 40)) : nothing);
      if (hits.length > 40) list.append(el("p", { class: "s mut" }, `${hits.length - 40} more: type on to narrow it down.`));
    } else {
      say(find(".all .count"), `${all.length} settings, ${changed.length} changed`);
      const open = new Set([...list.querySelectorAll("details[open] summary")].map((node) => node.firstChild.textContent));
      const browse = el("details", { class: "browse", ...(open.has("Browse by section") ? { open: true } : {}) }, el("summary", {}, "Browse by section"),
        ...sections.map((name) => details(name, all.filter((one) => one.section === name), open.has(name))));
      list.replaceChildren(...(changed.length ? [details("Changed from the default", changed, open.has("Changed from the default"))] : []), browse);
    }
    showProblems();
  }
  box.addEventListener("input", () => draw());
  onView(() => draw());
  page.searchSettings = (asked) => { box.value = asked; draw(); };
  draw();
}
// Makes the field of a path that is not drawn visible.
function reveal(path) {
  const one = page.form.fields.find((other) => path === other.path || path.startsWith(`${other.path}.`));
  if (one?.section) page.searchSettings(one.name);
}
