// What floats above the page: menus, the emoji picker, dialogs, notes about what went wrong.

import { h, icon, replace, unique } from "./dom.js";
import { EMOJI } from "./emoji.js";

/** Show `content` beside `anchor` until it is left; light dismissal and Esc are the browser's own. */
export function float(anchor, content, { onclose } = {}) {
  const box = h("div.float", { popover: "auto" }, content);
  document.body.append(box);
  const from = document.activeElement;
  box.addEventListener("toggle", ({ newState }) => {
    if (newState !== "closed") return;
    const had = box.contains(document.activeElement) || document.activeElement === document.body;
    box.remove();
    onclose?.();
    if (had && from?.isConnected) from.focus();
  });
  box.showPopover();
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const side = at.left + at.right < innerWidth ? at.left : at.right - width;
  const left = Math.max(8, Math.min(side, innerWidth - width - 8));
  const below = at.bottom + 6 + height < innerHeight - 8;
  box.style.left = `${left}px`;
  box.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - height - 6)}px`;
  return { box, close: () => box.isConnected && box.hidePopover() };
}

/** A menu of [{label, icon, keys, danger, run}], with null for a line between; arrows, Home, End and letters move. */
export function menu(anchor, items, label = "More") {
  const list = h("div.menu", { role: "menu", "aria-label": label });
  let floating = null;
  for (const item of items.filter((each, index, all) => each || (index && index < all.length - 1 && all[index - 1]))) {
    if (!item) {
      list.append(h("hr"));
      continue;
    }
    if (item.heading) {
      list.append(h("div.menu-heading", {}, item.heading));
      continue;
    }
    const run = () => {
      floating.close();
      item.run();
    };
    list.append(
      h("button", { type: "button", role: "menuitem", tabindex: "-1", class: item.danger ? "danger" : undefined, onclick: run }, icon(item.icon ?? "chevron"), h("span", {}, item.label), item.keys && h("kbd", {}, item.keys)),
    );
  }
  rove(list, "[role=menuitem]");
  floating = float(anchor, list);
  list.querySelector("[role=menuitem]")?.focus();
  return floating;
}

/** Arrow keys move the focus among what `selector` finds; `columns` makes it a grid. */
export function rove(container, selector, columns = 1) {
  container.addEventListener("keydown", (event) => {
    const all = [...container.querySelectorAll(selector)];
    const at = all.indexOf(document.activeElement);
    const steps = { ArrowDown: columns, ArrowUp: -columns, ...(columns > 1 ? { ArrowRight: 1, ArrowLeft: -1 } : {}) };
    let next = at;
    if (event.key in steps) next = at < 0 ? 0 : at + steps[event.key];
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = all.length - 1;
    else return;
    if (columns === 1) next = (next + all.length) % all.length;
    event.preventDefault();
    all[Math.max(0, Math.min(next, all.length - 1))]?.focus();
  });
}

/** Choose an emoji; `own` are those that the guild made: [{key, label}]. */
export function pickEmoji(anchor, own, onpick) {
  const search = h("input", { type: "search", placeholder: "Search emoji", "aria-label": "Search emoji" });
  const grid = h("div.emoji-grid", { role: "group", "aria-label": "Emoji" });
  const floating = float(anchor, h("div.emoji-picker", {}, search, grid));
  const pick = (key) => {
    floating.close();
    onpick(key);
  };
  const all = [...own.map(({ key, label }) => [key, label, label]), ...EMOJI.map(([emoji, words]) => [emoji, words.split(" ")[0].replaceAll("_", " "), words])];
  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    const found = all.filter(([, , words]) => words.replaceAll("_", " ").includes(wanted));
    replace(grid, found.length ? found.map(([key, label]) => h("button", { type: "button", title: label, "aria-label": label, onclick: () => pick(key) }, key.includes(":") ? label : key)) : h("p.quiet", {}, "No emoji of that name."));
  };
  search.addEventListener("input", show);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      grid.querySelector("button")?.click();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      grid.querySelector("button")?.focus();
    }
  });
  rove(grid, "button", 8);
  show();
  search.focus();
  return floating;
}

// --- dialogs ---------------------------------------------------------------------------------------------------------

/** A dialog with a title; `content` is its elements. Resolves when it closes. */
export function dialog(title, content, { kind = "", onclose, label } = {}) {
  const name = unique("dialog");
  const box = h(`dialog.dialog${kind ? `.${kind}` : ""}`, title ? { "aria-labelledby": name } : { "aria-label": label }, title && h(`h2#${name}`, {}, title), content);
  document.body.append(box);
  const from = document.activeElement;
  box.addEventListener("close", () => {
    box.remove();
    if (from?.isConnected && (document.activeElement === document.body || document.activeElement === null)) from.focus();
    onclose?.(box.returnValue);
  });
  // A press on the backdrop closes it.
  box.addEventListener("pointerdown", (event) => {
    if (event.target !== box) return;
    const { left, right, top, bottom } = box.getBoundingClientRect();
    if (event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom) box.close();
  });
  box.showModal();
  return box;
}

/** Ask whether to go on; resolves to whether. */
export function confirm(title, text, action) {
  return new Promise((resolve) => {
    const buttons = h("form.buttons", { method: "dialog" }, h("button.plain", { value: "" }, "Cancel"), h("button.danger", { value: "yes", autofocus: true }, action));
    const box = dialog(title, [h("p", {}, text), buttons], { kind: "small", onclose: (value) => resolve(value === "yes") });
    box.querySelector(".danger").focus();
  });
}

/** A form of [{name, label, required, max, long, value}]; `onsubmit(values)` may throw what is told under it. */
export function form(title, fields, action, onsubmit) {
  const inputs = fields.map((field) => {
    const id = unique("field");
    const input = field.long ? h(`textarea#${id}`, { rows: "5" }) : h(`input#${id}`, { type: "text" });
    input.required = Boolean(field.required);
    if (field.max) input.maxLength = field.max;
    input.value = field.value ?? "";
    return { ...field, input, row: h("div.field", {}, h("label", { for: id }, field.label), input) };
  });
  const problem = h("p.problem", { role: "alert" });
  const body = h("form", {}, inputs.map(({ row }) => row), problem, h("div.buttons", {}, h("button.plain", { type: "button", onclick: () => box.close() }, "Cancel"), h("button.primary", {}, action)));
  body.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await onsubmit(Object.fromEntries(inputs.map(({ name, input }) => [name, input.value])));
      box.close();
    } catch (error) {
      problem.textContent = error.message;
    }
  });
  const box = dialog(title, body, { kind: "form" });
  inputs[0].input.focus();
  return box;
}

/** Say what went wrong, for a while. */
export function toast(text) {
  const box = document.getElementById("toasts");
  const note = h("div.toast", {}, h("span", {}, text), h("button.tool", { type: "button", "aria-label": "Dismiss", onclick: () => note.remove() }, icon("close")));
  box.append(note);
  while (box.children.length > 3) box.firstChild.remove();
  setTimeout(() => note.remove(), 8000);
}
