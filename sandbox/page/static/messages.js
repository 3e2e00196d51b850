// The messages of the place that is shown: making them, keeping their order, and keeping the view where it was.

import { attachments, embeds } from "./attached.js";
import { components, isV2 } from "./components.js";
import { arrange, h, icon, iconButton, put } from "./dom.js";
import { float } from "./floating.js";
import { isJumbo, markdown } from "./markdown.js";
import { authorOf, bot, byId, clockOf, dayOf, exactOf, here, isWebhook, many, nameOf, shortOf, state, titleOf } from "./state.js";

const TOGETHER_MS = 7 * 60_000;
const AT_END_PX = 60;
const QUIET_KINDS = new Set([0, 19, 20, 23]); // what people and bots say, and what commands answered

const scroller = () => document.getElementById("scroller");
const list = () => document.getElementById("messages");

let act = {}; // what can be done with a message; see main.js
const made = new Map(); // id -> {written, element}

export function setUp(actions) {
  act = actions;
  scroller().addEventListener("scroll", onscroll, { passive: true });
  // Pictures and the composer change heights; who is at the end stays there.
  const follow = new ResizeObserver(() => stuck && toEnd());
  follow.observe(scroller());
  follow.observe(list());
}

let stuck = true;

function onscroll() {
  const box = scroller();
  stuck = box.scrollHeight - box.scrollTop - box.clientHeight < AT_END_PX;
  if (box.scrollTop < 200 && state.more) act.older();
  document.getElementById("present").hidden = stuck || box.scrollHeight - box.scrollTop - box.clientHeight < box.clientHeight;
  if (stuck) act.read();
}

export const isAtEnd = () => stuck;

export function toEnd() {
  const box = scroller();
  box.scrollTop = box.scrollHeight;
  stuck = true;
}

/** Forget what was made: the names in it, or the place, have changed. */
export function forget() {
  made.clear();
}

export const elementOf = (id) => made.get(id)?.element;

/** Everything in order: dividers, messages, what only this person sees. */
export function draw({ fresh = false } = {}) {
  const tops = fresh || stuck ? [] : inSight();
  const wanted = [];
  let before = null;
  let marked = state.unreadAfter === null || state.unreadAfter === "0";
  for (const message of shown()) {
    const at = message.view.at;
    if (!before || new Date(before.view.at).toDateString() !== new Date(at).toDateString()) {
      wanted.push(divider(`day-${dayOf(at)}`, dayOf(at)));
      before = null;
    }
    if (!marked && byId(message.id, state.unreadAfter) > 0 && !message.view.mine && !message.view.private) {
      if (byId(message.id, state.unreadAfter) > 0) wanted.push(divider("new", "New", "new"));
      marked = true;
      before = null;
    }
    const element = ensure(message);
    element.classList.toggle("together", isTogether(before, message));
    element.classList.toggle("chosen", message.id === state.chosen);
    element.classList.toggle("replying", message.id === state.reply?.id);
    wanted.push(element);
    before = message;
  }
  arrange(list(), wanted);
  for (const id of made.keys()) if (!state.messages.has(id)) made.delete(id);
  beginning();
  // What is read stays where it is: the first message in sight that is still there.
  const kept = tops.find(({ id }) => state.messages.has(id));
  if (kept) scroller().scrollTop += elementOf(kept.id).getBoundingClientRect().top - kept.top;
  else if (fresh) land();
  else if (stuck) toEnd();
}

export function shown() {
  return [...state.messages.values()];
}

/** On entering: at the line of what is new where that is out of sight, else at the end. */
function land() {
  toEnd();
  const line = dividers.get("new");
  if (line?.isConnected && line.offsetTop < scroller().scrollTop) {
    scroller().scrollTop = line.offsetTop - 40;
    onscroll();
  }
}

function inSight() {
  const { top, bottom } = scroller().getBoundingClientRect();
  const found = [];
  for (const element of list().children) {
    const at = element.getBoundingClientRect();
    if (at.bottom > top && at.top < bottom && element.dataset.id) found.push({ id: element.dataset.id, top: at.top });
  }
  return found;
}

const dividers = new Map();

function divider(key, label, kind = "day") {
  if (!dividers.has(key)) dividers.set(key, h(`li.divider.${kind}`, { role: "separator", "aria-label": label }, h("span", {}, label)));
  return dividers.get(key);
}

export const dropDividers = () => dividers.clear();

function isTogether(before, message) {
  return Boolean(
    before &&
      before.author.id === message.author.id &&
      before.author.username === message.author.username &&
      !message.view.reply &&
      !message.interaction_metadata &&
      QUIET_KINDS.has(before.type) &&
      QUIET_KINDS.has(message.type) &&
      !before.view.private === !message.view.private &&
      message.view.at - before.view.at < TOGETHER_MS,
  );
}

function ensure(message) {
  const written = JSON.stringify(message) + (state.editing === message.id);
  const known = made.get(message.id);
  if (known?.written === written) return known.element;
  const element = make(message);
  if (known?.element.isConnected) {
    const focus = known.element.contains(document.activeElement);
    const key = document.activeElement?.dataset?.key;
    known.element.replaceWith(element);
    if (focus && state.editing !== message.id) ((key && element.querySelector(`[data-key="${CSS.escape(key)}"]`)) ?? element).focus({ preventScroll: true });
  }
  made.set(message.id, { written, element });
  return element;
}

// --- one message -----------------------------------------------------------------------------------------------------

export function avatar(person, size = "") {
  const name = person.name || "?";
  const isBot = person.id === bot().id;
  const hue = Number((BigInt(person.id || 0) * 137n) % 360n);
  return h(`span.avatar${size}`, { "aria-hidden": "true", vars: { "--hue": String(hue) }, class: isBot ? "muninn" : undefined }, isBot ? h("img", { src: "/raven.svg", alt: "", width: "36", height: "36" }) : [...name][0].toUpperCase());
}

function nameTag(person, { isButton = true } = {}) {
  const attributes = { vars: person.color ? { "--tint": `#${person.color.toString(16).padStart(6, "0")}` } : {}, title: person.handle ? `@${person.handle}` : undefined };
  if (!isButton || !state.people.has(person.id)) return h("span.name", attributes, person.name);
  return h("button.name", { ...attributes, type: "button", data: { key: "name" }, onclick: ({ currentTarget }) => act.person(person.id, currentTarget) }, person.name);
}

function make(message) {
  if (!QUIET_KINDS.has(message.type)) return notice(message);
  const author = authorOf(message);
  const { view } = message;
  const row = h("li.message", {
    tabindex: "-1",
    data: { id: message.id },
    class: [view.pinged && !view.mine && "pinged", message.view.private && "private"].filter(Boolean).join(" ") || undefined,
    "aria-label": label(message, author),
  });
  const above = [view.reply && quoted(view.reply), message.interaction_metadata && asked(message)].filter(Boolean);
  if (above.length) row.append(h("div.above", {}, above));
  row.append(
    avatar(author),
    h("div.head", {}, nameTag(author), author.bot && h("span.badge", {}, isWebhook(message) ? "Webhook" : "App"), time(view.at), message.pinned && h("span.pinned", { title: "Pinned" }, icon("pin"))),
    h("time.gutter", { datetime: new Date(view.at).toISOString(), "aria-hidden": "true" }, clockOf(view.at)),
    h("div.body", {}, state.editing === message.id ? act.editor(message) : content(message), extras(message)),
  );
  if (state.editing !== message.id) row.append(toolbar(message));
  return row;
}

function label(message, author) {
  const parts = [author.name, clockOf(message.view.at)];
  if (message.view.reply) parts.push(`replies to ${nameOf(message.view.reply.author, message.view.reply.name)}`);
  return parts.join(", ");
}

const time = (at) => h("time", { datetime: new Date(at).toISOString(), title: exactOf(at) }, clockOf(at));

export const names = (message) => ({
  person: (id) => state.people.get(id),
  former: (id) => state.former.get(id),
  role: (id) => state.roles.get(id),
  place: (id) => state.places.get(id),
  onperson: (id, anchor) => act.person(id, anchor),
  onplace: (id) => act.go(id),
  onmessage: (place, id) => act.goTo(place, id),
  everyone: Boolean(message?.mention_everyone),
});

function content(message) {
  if (isV2(message)) return null;
  if (!message.content) return isThinking(message) ? h("div.words.thinking", { role: "status" }, h("span.dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), `${authorOf(message).name} is thinking`) : null;
  const words = h("div.words", { class: isJumbo(message.content) ? "jumbo" : undefined }, markdown(message.content, names(message)));
  if (message.view.edited) words.append(" ", h("span.edited", { title: exactOf(message.view.edited) }, "(edited)"));
  return words;
}

const isThinking = (message) => Boolean(message.flags & 128);

function extras(message) {
  const found = [];
  for (const { message: inside } of message.message_snapshots ?? []) {
    found.push(h("div.forward", {}, h("div.quiet", {}, "Forwarded"), inside.content && h("div.words", {}, markdown(inside.content, names()))));
  }
  found.push(attachments(message), embeds(message, names(message)), components(message, act, names(message)));
  for (const sticker of message.sticker_items ?? []) found.push(h("div.sticker", {}, `Sticker: ${sticker.name}`));
  if (message.poll) found.push(poll(message));
  found.push(reactions(message));
  if (message.view.thread) found.push(threadLink(message.view.thread));
  if (message.view.private) {
    found.push(h("div.only-you", {}, "Only you can see this. ", h("button.link", { type: "button", data: { key: "dismiss" }, onclick: () => act.dismiss(message) }, "Dismiss")));
  }
  return found;
}

/** A press votes, a second one takes the vote back; the bars say how it stands. */
function poll(message) {
  const { poll: body, view } = message;
  const counts = new Map((body.results?.answer_counts ?? []).map(({ id, count }) => [id, count]));
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const mine = new Set(view.votes);
  const isOver = Boolean(body.results?.is_finalized);
  const rows = body.answers.map(({ answer_id: id, poll_media: media }) => {
    const count = counts.get(id) ?? 0;
    const next = mine.has(id) ? view.votes.filter((each) => each !== id) : [...(body.allow_multiselect ? view.votes : []), id];
    return h(
      "button.answer",
      { type: "button", disabled: isOver, "aria-pressed": String(mine.has(id)), data: { key: `answer-${id}` }, vars: { "--share": all ? String(count / all) : "0" }, onclick: () => act.vote(message, next.map(String)) },
      h("span", {}, media.emoji?.name && !media.emoji.id ? `${media.emoji.name} ` : "", media.text ?? ""),
      h("span.quiet", {}, many(count, "vote")),
    );
  });
  const note = isOver ? "It is over." : `${body.allow_multiselect ? "Choose one or more. " : ""}It ends ${shortOf(Date.parse(body.expiry))}.`;
  return h("div.poll", { role: "group", "aria-label": body.question.text }, h("strong", {}, body.question.text), rows, h("span.quiet", {}, note));
}

function quoted(reply) {
  const name = nameOf(reply.author, reply.name);
  const text = reply.gone ? "The message was deleted" : reply.text || (reply.more ? "(attachment)" : "");
  const plain = markdown(text.replace(/\s+/g, " "), { ...names(), onperson: undefined }).textContent;
  const person = state.people.get(reply.author) ?? { id: reply.author, name };
  return h("div.quoted", { class: reply.gone ? "gone" : undefined }, h("span.curve", { "aria-hidden": "true" }), reply.gone ? null : [avatar(person, ".tiny"), nameTag(person, { isButton: false })], h("button.text", { type: "button", disabled: reply.gone, data: { key: "quoted" }, onclick: () => act.show(reply.id) }, plain));
}

function asked(message) {
  const { user, name, command_type: kind } = message.interaction_metadata;
  const person = state.people.get(user?.id) ?? { id: user?.id ?? "0", name: user?.global_name ?? user?.username ?? "somebody" };
  if (!name) return null;
  return h("div.quoted", {}, !message.view.reply && h("span.curve", { "aria-hidden": "true" }), avatar(person, ".tiny"), nameTag(person, { isButton: false }), h("span.text", {}, "used ", h("code.command", {}, kind === 1 ? `/${name}` : name)));
}

function reactions(message) {
  if (!message.reactions.length) return null;
  const can = here()?.can.react;
  const chips = message.reactions.map(({ emoji, key, count, me, by }) => {
    const who = by.map((id) => nameOf(id)).join(", ") + (count > by.length ? ` and ${count - by.length} more` : "");
    return h(
      "button.reaction",
      { type: "button", "aria-pressed": String(me), title: who, "aria-label": `${emoji.name}, ${many(count, "reaction")}: ${who}`, data: { key: `reaction-${key}` }, onclick: () => act.react(message, key, !me) },
      h("span.emoji", {}, emoji.id ? `:${emoji.name}:` : emoji.name),
      h("span.how-many", {}, String(count)),
    );
  });
  return h("div.reactions", { role: "group", "aria-label": "Reactions" }, chips, can && h("button.reaction.add", { type: "button", "aria-label": "Add a reaction", title: "Add a reaction", data: { key: "reaction-add" }, onclick: ({ currentTarget }) => act.pick(message, currentTarget) }, icon("react")));
}

function threadLink(thread) {
  return h("button.thread-link", { type: "button", data: { key: "thread" }, onclick: () => act.go(thread.id) }, icon("thread"), h("strong", {}, thread.name), h("span", {}, `${many(thread.count, "message")}${thread.archived ? ", archived" : ""}`));
}

function toolbar(message) {
  const place = here();
  const bar = h("div.actions", { role: "group", "aria-label": "Actions" });
  const add = (name, label, run, keys) => bar.append(iconButton(name, label, run, { tabindex: "-1", keys, data: { key: `do-${name}` } }));
  if (place?.can.react && !message.view.private) add("react", "Add a reaction", ({ currentTarget }) => act.pick(message, currentTarget), "A");
  if (place?.can.say && !message.view.private) add("reply", "Reply", () => act.reply(message), "R");
  if (message.view.editable) add("edit", "Edit", () => act.edit(message), "E");
  add("record", "What is on record", () => act.inspect(message.id), "I");
  add("more", "More", ({ currentTarget }) => act.menu(message, currentTarget), "M");
  return bar;
}

/** What Discord says of itself: somebody joined, a thread was opened, a message was pinned. */
function notice(message) {
  const author = authorOf(message);
  const row = h("li.message.notice", { tabindex: "-1", data: { id: message.id }, "aria-label": "Notice" });
  const body = h("div.body");
  const starter = message.view.starter;
  if (message.type === 21 && starter) {
    body.append(h("div.opening", {}, h("strong", {}, nameOf(starter.author, starter.name)), " ", starter.gone ? "(the message was deleted)" : markdown(starter.text, names())));
  } else {
    put(body, [icon(NOTICES[message.type]?.[0] ?? "chevron"), h("span", {}, h("strong", {}, author.name), ` ${NOTICES[message.type]?.[1](message) ?? "did something that this page has no words for"} `, time(message.view.at))]);
    const opened = message.type === 18 && message.message_reference?.channel_id;
    if (opened && state.places.has(opened)) body.append(h("button.link", { type: "button", data: { key: "open" }, onclick: () => act.go(opened) }, "Open it"));
  }
  row.append(h("time.gutter", { "aria-hidden": "true" }, clockOf(message.view.at)), body);
  return row;
}

const NOTICES = {
  1: ["people", () => "added somebody."],
  2: ["people", () => "removed somebody."],
  4: ["edit", ({ content: name }) => `named it ${name}.`],
  6: ["pin", () => "pinned a message."],
  7: ["people", () => "joined."],
  8: ["people", () => "boosted the server."],
  18: ["thread", ({ content: name }) => `opened the thread “${name}”.`],
  46: ["check", () => "closed a poll."],
};

/** What is pinned here, to be gone to. */
export function listPins(anchor, found, onshow) {
  const rows = found.map((message) => h("li", {}, h("button.row", { type: "button", onclick: () => (floating.close(), onshow(message.id)) }, avatar(authorOf(message), ".small"), h("span.who", {}, h("strong", {}, authorOf(message).name), h("span.quiet", {}, markdown(message.content.slice(0, 160), { ...names(), onperson: undefined }).textContent || "(no words)")))));
  const floating = float(anchor, h("div.roster", { role: "group", "aria-label": "Pinned messages" }, h("h3", {}, "Pinned"), rows.length ? h("ul", {}, rows) : h("p.quiet", {}, "Nothing is pinned here.")));
  floating.box.querySelector("button")?.focus();
}

// --- above the first message -----------------------------------------------------------------------------------------

function beginning() {
  const box = document.getElementById("beginning");
  const place = here();
  const key = `${state.place}/${state.more}/${state.directory?.me}/${place?.can.say}`;
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren();
  if (!place || state.more) return;
  const name = bot().name;
  const isDm = place.type === 1;
  put(box, [
    h("h2", {}, isDm ? `You and ${name}` : titleOf(place)),
    h("p", {}, isDm ? `Whatever you write here, ${name} answers.` : `The beginning of ${titleOf(place)}. ${name} reads what is said here and answers whoever mentions it or replies to it.`),
  ]);
  if (!place.can.say) return;
  const tries = isDm ? ["help", "remember that I prefer tea", "who am I?"] : [`@${name} what did we say about atlas?`, `@${name} remember that I prefer tea`, `@${name} help`];
  box.append(h("div.tries", { role: "group", "aria-label": "Try this" }, tries.map((words) => h("button.try", { type: "button", onclick: () => act.suggest(words) }, words))));
}
