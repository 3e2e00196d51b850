// Slash commands: which there are, and filling in their options.

import { h, icon, iconButton, replace } from "./dom.js";
import { field, things } from "./fields.js";
import { state } from "./state.js";

const Option = { STRING: 3, INTEGER: 4, BOOLEAN: 5, USER: 6, CHANNEL: 7, ROLE: 8, MENTIONABLE: 9, NUMBER: 10, ATTACHMENT: 11 };
const ENTITIES = { [Option.USER]: "user", [Option.CHANNEL]: "channel", [Option.ROLE]: "role", [Option.MENTIONABLE]: "mentionable" };

let act = {};

export function setUp(actions) {
  act = actions;
}

/** What the box completes after a slash. */
export function completions(typed) {
  const wanted = typed.toLowerCase().trimStart();
  return state.commands.slash
    .filter(({ name }) => name.includes(wanted) || wanted.startsWith(`${name} `))
    .sort((left, right) => right.name.startsWith(wanted) - left.name.startsWith(wanted) || left.name.localeCompare(right.name))
    .slice(0, 8)
    .map((command) => ({ label: `/${command.name}`, note: command.description, icon: "slash", run: () => open(command) }));
}

const bar = () => document.getElementById("command");

export const clear = () => bar().replaceChildren();

export function close() {
  clear();
  act.focus();
}

/** The command's options above the box: what is required at once, what is optional on demand. */
export function open(command) {
  const place = state.place;
  const made = new Map();
  const rows = h("div.options");
  const optional = h("div.optional", { role: "group", "aria-label": "More options" });
  const problem = h("p.problem", { role: "alert" });
  const read = async () => {
    const options = {};
    for (const [name, { read: value }] of made) {
      const given = await value();
      if (given !== undefined) options[name] = Array.isArray(given) ? given[0] : given;
    }
    return options;
  };
  const suggest = (option) => async (typed) => act.ask("complete", { place, line: command.name, focused: option.name, options: { ...(await read()), [option.name]: typed } });
  const add = (option) => {
    const control = field({ ...shape(option), label: option.name, note: option.description, required: Boolean(option.required), suggest: option.autocomplete ? suggest(option) : undefined });
    made.set(option.name, control);
    rows.append(control.row);
    return control;
  };
  for (const option of command.options.filter(({ required }) => required)) add(option);
  for (const option of command.options.filter(({ required }) => !required)) {
    const more = h("button.try", { type: "button", title: option.description, onclick: () => (more.remove(), add(option).control.focus()) }, `+ ${option.name}`);
    optional.append(more);
  }
  const use = h("button.primary", {}, "Use");
  const form = h(
    "form.command",
    { "aria-label": `/${command.name}`, autocomplete: "off" },
    h("header", {}, icon("slash"), h("strong", {}, command.name), h("span.quiet", {}, command.description), iconButton("close", "Do not use it", close, { keys: "Esc" })),
    rows,
    optional.childElementCount ? optional : null,
    problem,
    h("div.buttons", {}, use),
  );
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    use.disabled = true;
    problem.textContent = "";
    try {
      const options = await read();
      await act.use("slash", { place, line: command.name, options });
      if (form.isConnected) close();
    } catch (error) {
      problem.textContent = error.message;
      use.disabled = false;
    }
  });
  replace(bar(), form);
  (rows.querySelector("input, select, textarea") ?? use).focus();
}

function shape(option) {
  const chosen = option.choices?.length && { kind: "one", options: option.choices.map(({ name, value }) => ({ value: String(value), label: name })) };
  if (chosen) return chosen;
  if (ENTITIES[option.type]) return { kind: "one", options: things(ENTITIES[option.type], option.channel_types), other: option.type === Option.USER && "Somebody else, by id …" };
  if (option.type === Option.BOOLEAN) return { kind: "flag" };
  if (option.type === Option.ATTACHMENT) return { kind: "files", most: 1 };
  if (option.type === Option.INTEGER || option.type === Option.NUMBER) return { kind: "number", whole: option.type === Option.INTEGER, min: option.min_value, max: option.max_value };
  return { kind: "text", min: option.min_length, max: option.max_length ?? 6000 };
}
