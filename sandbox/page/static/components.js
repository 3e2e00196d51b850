// Buttons, menus and the newer layout of messages, and forms (modals).

import { drawn, picture, safe } from "./attached.js";
import { h, icon } from "./dom.js";
import { field, things } from "./fields.js";
import { dialog, float, toast } from "./floating.js";
import { link, markdown } from "./markdown.js";
import { sizeOf } from "./state.js";

export const isV2 = (message) => Boolean(message.flags & (1 << 15));

const STYLES = { 1: "primary", 2: "plain", 3: "good", 4: "danger" };
const SELECTS = { 3: null, 5: "user", 6: "role", 7: "mentionable", 8: "channel" };

/** `act.press(message, id)` and `act.choose(message, id, values)` say what the person did. */
export function components(message, act, names) {
  if (!message.components.length) return null;
  return h("div.components", {}, message.components.map((part) => one(part, { message, act, names })));
}

function one(part, context) {
  return DRAW[part.type]?.(part, context) ?? h("div.quiet", {}, "(Something that this page cannot show)");
}

const each = (parts, context) => (parts ?? []).map((part) => one(part, context));

const DRAW = {
  1: (part, context) => h("div.action-row", {}, each(part.components, context)),
  2: button,
  3: select,
  5: select,
  6: select,
  7: select,
  8: select,
  9: (part, context) => h("div.section", {}, h("div", {}, each(part.components, context)), one(part.accessory, context)),
  10: (part, { names }) => h("div.words", {}, markdown(part.content, names)),
  11: (part, { message }) => h("div.thumbnail", {}, media(part, message)),
  12: (part, { message }) => h("div.gallery", {}, part.items.map((item) => media(item, message))),
  13: (part, { message }) => h("a.file", { href: own(part.file, message) ?? "#", download: part.name }, icon("file"), h("span.file-name", {}, part.name ?? "file"), part.size !== undefined && h("span.quiet", {}, sizeOf(part.size))),
  14: (part) => h("div.separator", { class: [part.divider === false ? "bare" : "", part.spacing === 2 ? "wide" : ""].join(" ") }),
  17: (part, context) => h("div.container", { class: part.spoiler ? "hidden-part" : "", vars: part.accent_color === undefined || part.accent_color === null ? {} : { "--bar": `#${part.accent_color.toString(16).padStart(6, "0")}` } }, each(part.components, context)),
};

const own = (file, message) => (file.attachment_id ? `/files/${message.channel_id}/${message.id}/${file.attachment_id}` : safe(file.url) ? file.url : undefined);

function media(item, message) {
  const file = item.media;
  if (file.attachment_id) return picture({ ...file, url: own(file, message), filename: item.description ?? "picture", description: item.description });
  return drawn({ ...file, description: item.description }, message);
}

function label(part) {
  const emoji = part.emoji?.id ? `:${part.emoji.name}:` : part.emoji?.name;
  return [emoji && h("span.emoji", {}, emoji), part.label && h("span", {}, part.label)];
}

function button(part, { message, act }) {
  if (part.style === 5) return safe(part.url) ? Object.assign(link(part.url, ...label(part).filter(Boolean)), { className: "plain press" }) : null;
  if (part.style === 6) return h("button.plain.press", { type: "button", disabled: true }, "A purchase");
  const made = h(`button.press.${STYLES[part.style] ?? "plain"}`, { type: "button", disabled: Boolean(part.disabled), data: { key: `component-${part.custom_id}` } }, label(part));
  made.addEventListener("click", async () => {
    if (made.getAttribute("aria-busy")) return;
    made.setAttribute("aria-busy", "true");
    await act.press(message, part.custom_id);
    made.removeAttribute("aria-busy");
  });
  return made;
}

function choices(part) {
  const what = SELECTS[part.type];
  const defaults = new Set((part.default_values ?? []).map(({ id }) => id));
  return what === null ? part.options.map(({ value, label: text, description, default: chosen, emoji }) => ({ value, label: `${emoji?.name && !emoji.id ? `${emoji.name} ` : ""}${text}`, note: description, chosen })) : things(what, part.channel_types).map((thing) => ({ ...thing, chosen: defaults.has(thing.value) }));
}

/** One of them: the browser's own menu. Several: boxes to tick, sent together. */
function select(part, { message, act }) {
  const options = choices(part);
  const name = part.placeholder ?? "Choose";
  const most = part.max_values ?? 1;
  if (most === 1) {
    const made = h("select.choose", { "aria-label": name, disabled: Boolean(part.disabled), data: { key: `component-${part.custom_id}` } }, h("option", { value: "" }, name), options.map((option) => h("option", { value: option.value, title: option.note }, option.label)));
    made.value = options.find((option) => option.chosen)?.value ?? "";
    made.addEventListener("change", () => made.value && act.choose(message, part.custom_id, [made.value]));
    return made;
  }
  const made = h("button.choose", { type: "button", disabled: Boolean(part.disabled), "aria-haspopup": "dialog", data: { key: `component-${part.custom_id}` } }, h("span", {}, options.filter(({ chosen }) => chosen).map(({ label: text }) => text).join(", ") || name), icon("chevron"));
  made.addEventListener("click", () => {
    const boxes = field({ kind: "many", label: name, options, most, required: true });
    const box = float(made, h("div.several", {}, boxes.row, h("button.primary", { type: "button", onclick: send }, "Choose")));
    boxes.control.querySelector("input")?.focus();
    function send() {
      const values = boxes.read();
      const least = part.min_values ?? 1;
      if (values.length < least) return toast(`Choose at least ${least}.`);
      box.close();
      return act.choose(message, part.custom_id, values);
    }
  });
  return made;
}

// --- forms -----------------------------------------------------------------------------------------------------------

const INPUTS = {
  3: (part) => ((part.max_values ?? 1) > 1 || part.min_values === 0 ? many(part) : { kind: "one", options: choices(part) }),
  4: (part) => ({ kind: "text", long: part.style === 2, min: part.min_length, max: part.max_length ?? 4000, value: part.value, placeholder: part.placeholder }),
  5: (part) => entity(part),
  6: (part) => entity(part),
  7: (part) => entity(part),
  8: (part) => entity(part),
  19: (part) => ({ kind: "files", most: part.max_values ?? 1 }),
  21: (part) => ({ kind: "radio", options: choices({ ...part, type: 3 }) }),
  22: (part) => many({ ...part, type: 3 }),
  23: (part) => ({ kind: "check", chosen: part.default }),
};

const many = (part) => ({ kind: "many", options: choices(part), least: part.min_values ?? 1, most: part.max_values ?? part.options?.length });
const entity = (part) => ((part.max_values ?? 1) > 1 ? many(part) : { kind: "one", options: choices(part) });

/** A form that the application shows. `onsubmit(values)` may throw what is told under it; the form stays then. */
export function modal(form, names, onsubmit) {
  const parts = [];
  const rows = form.components.map((outer) => {
    if (outer.type === 10) return h("div.words", {}, markdown(outer.content, names));
    const part = outer.type === 18 ? outer.component : outer.components?.[0];
    const input = part && INPUTS[part.type]?.(part);
    if (!input) return h("p.quiet", {}, "(A part that this page cannot show)");
    const made = field({ ...input, label: outer.label ?? part.label, note: outer.description, required: part.required !== false });
    parts.push({ id: part.custom_id, type: part.type, made });
    return made.row;
  });
  const problem = h("p.problem", { role: "alert" });
  const send = h("button.primary", {}, "Submit");
  const body = h("form", {}, rows, problem, h("div.buttons", {}, h("button.plain", { type: "button", onclick: () => box.close() }, "Cancel"), send));
  body.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    problem.textContent = "";
    try {
      const values = {};
      for (const { id, type, made } of parts) {
        const value = await made.read();
        if (type === 4) values[id] = value ?? "";
        else if (value !== undefined) values[id] = type === 23 ? value : [value].flat();
        else values[id] = [];
      }
      await onsubmit(values);
      box.close();
    } catch (error) {
      problem.textContent = error.message;
      send.disabled = false;
    }
  });
  const box = dialog(form.title, body, { kind: "form" });
  body.querySelector("input, textarea, select")?.focus();
  return box;
}
