// Fields to fill in: the options of commands, the parts of forms, the menus of messages.

import { h, icon, replace, unique } from "./dom.js";
import { iconOf, Kind, state, titleOf } from "./state.js";
import { upload } from "./uploads.js";

const OTHER = "\u0000other";

/** What can be chosen where people, roles or places are asked for: [{value, label}]. `kinds` limits places. */
export function things(what, kinds) {
  const found = [];
  if (what === "user" || what === "mentionable") found.push(...state.directory.people.map(({ id, name }) => ({ value: id, label: name })));
  if (what === "role" || what === "mentionable") found.push(...state.directory.roles.map(({ id, name }) => ({ value: id, label: name.startsWith("@") ? name : `@${name}` })));
  if (what === "channel") found.push(...state.directory.places.filter(({ type }) => type !== Kind.DM && (!kinds?.length || kinds.includes(type))).map((place) => ({ value: place.id, label: titleOf(place), icon: iconOf(place) })));
  return found;
}

/**
 * A field: {label, note, required, kind, ...}. Gives {row, control, read()}; read() is undefined where nothing is given.
 * Kinds: text (long, min, max, value, suggest), number (suggest), flag, one and many (options: [{value, label, note,
 * chosen}]; `other`: one takes an id, too, and says so by these words), radio, check, files (most).
 */
export function field(of) {
  const id = unique("field");
  const made = MAKERS[of.kind](of, id);
  if (of.required && "required" in made.control) made.control.required = true;
  const note = of.note ? h("span.quiet", { id: `${id}-note` }, of.note) : null;
  if (note) made.control.setAttribute("aria-describedby", note.id);
  const label = made.group ? h("div.label", { id: `${id}-label` }, of.label) : h("label", { for: id }, of.label);
  if (made.group) made.control.setAttribute("aria-labelledby", `${id}-label`);
  if (!of.required) label.append(h("span.quiet", {}, " (optional)"));
  return { ...made, of, row: h("div.field", {}, label, note, made.control, made.beside) };
}

const MAKERS = {
  text(of, id) {
    const control = of.long ? h("textarea", { id, rows: "4" }) : h("input", { id, type: "text", autocomplete: "off" });
    if (of.max) control.maxLength = of.max;
    if (of.min) control.minLength = of.min;
    if (of.placeholder) control.placeholder = of.placeholder;
    control.value = of.value ?? "";
    const beside = of.suggest ? suggestions(control, of.suggest) : null;
    return { control, beside, read: () => control.dataset.value ?? (control.value === "" ? undefined : control.value) };
  },
  number(of, id) {
    // What is suggested for a number has a name, which a field for numbers would not show.
    if (of.suggest) return MAKERS.text({ suggest: of.suggest }, id);
    const control = h("input", { id, type: "number", step: of.whole ? "1" : "any", min: of.min, max: of.max });
    return { control, read: () => (control.value === "" ? undefined : control.value) };
  },
  flag(of, id) {
    return MAKERS.one({ ...of, options: [{ value: "true", label: "Yes" }, { value: "false", label: "No" }] }, id, (value) => value === "true");
  },
  one(of, id, read = (value) => value) {
    const chosen = of.options.find((option) => option.chosen);
    const control = h("select", { id }, (!chosen || !of.required) && h("option", { value: "" }, of.placeholder ?? "Choose …"), of.options.map((option) => h("option", { value: option.value }, option.label)));
    if (chosen) control.value = chosen.value;
    if (!of.other) return { control, read: () => (control.value === "" ? undefined : read(control.value)) };
    const beside = h("input", { type: "text", inputmode: "numeric", autocomplete: "off", placeholder: "Their id", "aria-label": "The id", hidden: true });
    control.append(h("option", { value: OTHER }, of.other));
    control.addEventListener("change", () => {
      beside.hidden = control.value !== OTHER;
      beside.required = !beside.hidden;
      if (!beside.hidden) beside.focus();
    });
    const given = () => (control.value === OTHER ? beside.value.trim() : control.value);
    return { control, beside, read: () => (given() === "" ? undefined : read(given())) };
  },
  many(of, id) {
    const boxes = of.options.map((option) => h("label.check", {}, h("input", { type: "checkbox", value: option.value, checked: Boolean(option.chosen) }), h("span", {}, option.label, option.note && h("span.quiet", {}, ` ${option.note}`))));
    const control = h("div.checks", { role: "group", id }, boxes);
    const least = of.least ?? 0;
    const most = of.most ?? of.options.length;
    const all = () => [...control.querySelectorAll("input")];
    const limit = () => all().forEach((box) => (box.disabled = !box.checked && all().filter((each) => each.checked).length >= most));
    control.addEventListener("change", limit);
    limit();
    return { control, group: true, least, read: () => all().filter((box) => box.checked).map((box) => box.value) };
  },
  radio(of, id) {
    const options = of.options.map((option) => h("label.check", {}, h("input", { type: "radio", name: id, value: option.value, checked: Boolean(option.chosen) }), h("span", {}, option.label, option.note && h("span.quiet", {}, ` ${option.note}`))));
    const control = h("div.checks", { role: "radiogroup", id }, options);
    return { control, group: true, read: () => [...control.querySelectorAll("input")].filter((box) => box.checked).map((box) => box.value) };
  },
  check(of, id) {
    const control = h("input", { type: "checkbox", id, checked: Boolean(of.chosen) });
    return { control, read: () => control.checked };
  },
  files(of, id) {
    const control = h("input", { type: "file", id, multiple: (of.most ?? 1) > 1 });
    return { control, read: () => (control.files.length ? Promise.all([...control.files].slice(0, of.most ?? 1).map(upload)) : undefined) };
  },
};

/** Suggestions of the application under a field; `suggest(text)` gives [{name, value}]. */
function suggestions(control, suggest) {
  const list = h(`ul.suggestions#${unique("suggestions")}`, { role: "listbox", "aria-label": "Suggestions", hidden: true });
  control.setAttribute("role", "combobox");
  control.setAttribute("aria-expanded", "false");
  control.setAttribute("aria-controls", list.id);
  let found = [];
  let at = 0;
  let timer;
  let asked = 0;
  const close = () => {
    list.hidden = true;
    control.setAttribute("aria-expanded", "false");
  };
  const take = (index) => {
    control.value = found[index].name;
    control.dataset.value = found[index].value;
    close();
  };
  const mark = () => [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
  const look = async () => {
    const number = ++asked;
    const answer = await suggest(control.value).catch(() => []);
    if (number !== asked || document.activeElement !== control) return;
    found = answer;
    at = 0;
    replace(list, found.map(({ name }, index) => h("li", { role: "option", onpointerdown: (event) => (event.preventDefault(), take(index)) }, name)));
    list.hidden = !found.length;
    control.setAttribute("aria-expanded", String(!list.hidden));
    mark();
  };
  const later = () => {
    delete control.dataset.value;
    clearTimeout(timer);
    timer = setTimeout(look, 150);
  };
  control.addEventListener("input", later);
  control.addEventListener("focus", later);
  control.addEventListener("blur", close);
  control.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) at = (at + step + found.length) % found.length;
    else if (event.key === "Enter" || event.key === "Tab") take(at);
    else if (event.key === "Escape") close();
    else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
    mark();
  });
  return list;
}

