// The reward functions: a box and a weight each; what is chosen goes back as JSON.
const { el } = window.groupwise;
const body = element.querySelector("tbody");
let sent = null;

function read() {
  return [...body.children].map((row) => ({
    name: row.dataset.name, help: row.dataset.help,
    on: row.querySelector("[type=checkbox]").checked, weight: row.querySelector("[type=text]").value,
  }));
}
function send() {
  for (const row of body.children) row.classList.toggle("off", !row.querySelector("[type=checkbox]").checked);
  sent = JSON.stringify(read());
  props.value = sent;
  trigger("input");
}
function line(reward) {
  const box = el("input", { type: "checkbox", id: `reward-${reward.name}` });
  box.checked = reward.on;
  const weight = el("input", { type: "text", class: "input weight", inputmode: "decimal", "aria-label": `weight of ${reward.name}` });
  weight.value = reward.weight;
  box.addEventListener("change", send);
  weight.addEventListener("input", send);
  return el("tr", { "data-name": reward.name, "data-help": reward.help, class: reward.on ? "" : "off" },
    el("td", {}, box),
    el("td", { class: "what" }, el("label", { for: box.id }, el("b", {}, reward.name), " ", el("span", { class: "mut" }, reward.help))),
    el("td", { class: "n" }, weight));
}
function draw() {
  if (props.value === sent) return;
  sent = props.value;
  body.replaceChildren(...JSON.parse(props.value || "[]").map(line));
}
draw();
watch("value", draw);
