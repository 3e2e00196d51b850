// Who one can be, who there is, where one can jump to, and the list of shortcuts.

import { h, icon, replace, unique } from "./dom.js";
import { dialog, float } from "./floating.js";
import { avatar } from "./messages.js";
import { iconOf, isThread, Kind, state, titleOf } from "./state.js";
import { tint } from "./sidebar.js";

const POWERS = {
  Member: "Talks, reacts, opens threads.",
  Moderator: "Also deletes what others say, mutes and bans.",
  Administrator: "May do everything, and manages what Muninn knows.",
  Owner: "Owns the server.",
};

/** Choose who to be; resolves to the id, or null where somebody is already chosen and stays. */
export function choosePerson(current) {
  return new Promise((resolve) => {
    const people = state.hello.people.filter(({ bot }) => !bot);
    const order = ["Member", "Moderator", "Administrator", "Owner"];
    people.sort((left, right) => order.indexOf(left.title) - order.indexOf(right.title));
    let chosen = null;
    const pick = (id) => {
      chosen = id;
      box.close();
    };
    const cards = people.map((person) =>
      h("button.card", { type: "button", "aria-current": person.id === current ? "true" : undefined, onclick: () => pick(person.id) }, avatar(person), h("span.who", {}, h("strong", { vars: tint(person), class: "name" }, person.name), h("span.badge", {}, person.title), h("span.quiet", {}, POWERS[person.title]))),
    );
    const grid = h("div.cards", {}, cards);
    grid.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      cards[(cards.indexOf(document.activeElement) + step + cards.length) % cards.length].focus();
    });
    const welcome = current ? null : h("p", {}, `This is a Discord of your own, on this machine: the server “${state.hello.guild}”. ${state.hello.bot} is connected to it and remembers what is said. ${state.hello.about}`);
    const box = dialog(current ? "Be somebody else" : "Who do you want to be?", [welcome, grid, h("p.quiet", {}, "You can change it at any time; Ctrl+P.")], { kind: "welcome", onclose: () => resolve(chosen ?? current) });
    if (!current) box.addEventListener("cancel", () => (chosen = people[0].id));
    (cards[people.findIndex(({ id }) => id === current)] ?? cards[0]).focus();
  });
}

/** Everybody, by what they are. */
export function listPeople(anchor, onperson) {
  const groups = new Map();
  for (const person of state.directory.people) {
    const title = person.bot ? "Apps" : `${person.title}s`;
    groups.set(title, [...(groups.get(title) ?? []), person]);
  }
  const rows = [...groups].map(([title, people]) => h("section", {}, h("h3", {}, title), h("ul", {}, people.map((person) => h("li", {}, h("button.row", { type: "button", onclick: ({ currentTarget }) => onperson(person.id, currentTarget) }, avatar(person, ".small"), h("span.name", { vars: tint(person) }, person.name), h("span.quiet", {}, `@${person.handle}`)))))));
  return float(anchor, h("div.roster", { role: "group", "aria-label": "People" }, rows));
}

// --- jumping ---------------------------------------------------------------------------------------------------------

/** Ctrl+K: places, people and commands by a few letters. `commands` are {label, keys, icon, run}. */
export function jump({ go, be, commands }) {
  const id = unique("found");
  const input = h("input", { type: "text", placeholder: "Where to? A place, a person, a command", "aria-label": "Go to", role: "combobox", "aria-expanded": "true", "aria-controls": id, "aria-autocomplete": "list", spellcheck: "false" });
  const list = h(`ul#${id}`, { role: "listbox", "aria-label": "Found" });
  const all = [
    ...state.directory.places.filter(({ type }) => type !== Kind.CATEGORY).map((place) => ({ label: titleOf(place), note: note(place), icon: iconOf(place), weight: place.unread ? 2 : isThread(place) && place.archived ? 0 : 1, run: () => go(place.id) })),
    ...state.directory.people.filter(({ bot, id: person }) => !bot && person !== state.directory.me).map((person) => ({ label: `Be ${person.name}`, note: person.title, icon: "dm", weight: 0.5, run: () => be(person.id) })),
    ...commands.map((command) => ({ ...command, note: command.keys ?? "", weight: 0.4 })),
  ];
  let found = [];
  let at = 0;
  const mark = () => {
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
    const option = list.children[at];
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    }
  };
  const choose = (index) => {
    const chosen = found[index];
    box.close();
    chosen?.run();
  };
  const look = () => {
    const wanted = input.value.trim().toLowerCase();
    found = all
      .map((each) => ({ ...each, score: score(each.label.toLowerCase(), wanted) }))
      .filter((each) => each.score > 0)
      .sort((left, right) => right.score - left.score || right.weight - left.weight)
      .slice(0, 12);
    at = 0;
    replace(list, found.map((each, index) => h(`li#${unique("option")}`, { role: "option", onclick: () => choose(index) }, icon(each.icon ?? "chevron"), h("span", {}, each.label), h("span.quiet.end", {}, each.note))));
    if (!found.length) replace(list, h("li.quiet", { role: "option", "aria-disabled": "true" }, "Nothing of that name."));
    mark();
  };
  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) at = (at + step + found.length) % found.length;
    else if (event.key === "Enter") choose(at);
    else return;
    event.preventDefault();
    mark();
  });
  const box = dialog(null, [input, list], { kind: "jump", label: "Go to" });
  look();
  input.focus();
}

function note(place) {
  if (place.unread) return `${place.unread} new`;
  if (isThread(place)) return `${place.archived ? "archived, " : ""}in ${state.places.get(place.parent)?.name ?? "…"}`;
  return place.type === Kind.DM ? "Direct message" : "";
}

/** 0 where the letters do not come in this order; more for the beginning of the name or of a word. */
function score(label, wanted) {
  if (!wanted) return 1;
  const at = label.indexOf(wanted);
  if (at >= 0) return at === 0 || /[\s#@-]/.test(label[at - 1]) ? 4 : 3;
  let from = 0;
  for (const letter of wanted) {
    from = label.indexOf(letter, from) + 1;
    if (!from) return 0;
  }
  return 1;
}

// --- shortcuts -------------------------------------------------------------------------------------------------------

const SHORTCUTS = [
  ["Anywhere", [["Ctrl K", "Go to a place or a person, or do something"], ["Alt ↑ ↓", "The place above or below"], ["Alt Shift ↑ ↓", "The next place with something new"], ["F6", "From places to messages to the box to the record"], ["Ctrl .", "What is on record: show or hide"], ["Ctrl P", "Be somebody else"], ["Ctrl Shift L", "Light, dark, or as the system has it"], ["Esc", "To the newest message; everything is read"], ["?", "This list"]]],
  ["In the box", [["Enter", "Send"], ["Shift Enter", "A new line"], ["↑", "In an empty box: edit your last message"], ["@ # : /", "Complete a name, a place, an emoji, a command"], ["Ctrl U", "Attach files"], ["Esc", "Do not reply; take files off"]]],
  ["On a message (F6, then ↑ ↓)", [["R", "Reply"], ["A", "Add a reaction"], ["E", "Edit"], ["T", "Open a thread on it"], ["I", "What is on record for it"], ["M", "Everything else"], ["Del", "Delete"]]],
];

export function help() {
  const parts = SHORTCUTS.map(([title, rows]) => h("section", {}, h("h3", {}, title), h("dl", {}, rows.map(([keys, what]) => h("div", {}, h("dt", {}, keys.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, what))))));
  const box = dialog("Keyboard shortcuts", [h("div.shortcuts", {}, parts), h("form.buttons", { method: "dialog" }, h("button.primary", {}, "Close"))], { kind: "wide" });
  box.querySelector(".primary").focus();
}
