// The places one can go to, who one is, and the forum's list of posts.

import { h, icon, iconButton, replace } from "./dom.js";
import { form } from "./floating.js";
import { avatar } from "./messages.js";
import { bot, byId, here, iconOf, isThread, Kind, many, me, nameOf, ordered, shortOf, state, titleOf } from "./state.js";

let act = {};

export function setUp(actions) {
  act = actions;
  document.getElementById("veil").addEventListener("click", act.closeDrawer);
}

export function draw() {
  const bar = document.getElementById("sidebar");
  const focused = bar.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const scrolled = bar.querySelector(".places")?.scrollTop ?? 0;
  const person = me();
  replace(
    bar,
    h("header", {}, h("img.mark", { src: "/raven.svg", alt: "", width: "26", height: "26" }), h("span.guild", {}, state.directory.guild.name), iconButton("close", "Close", act.closeDrawer, { class: "tool only-narrow" })),
    h("button.go-to", { type: "button", data: { key: "jump" }, onclick: act.jump }, icon("jump"), h("span", {}, "Go to …"), h("kbd", {}, "Ctrl K")),
    h("div.places", {}, ordered().map(group)),
    h(
      "footer",
      {},
      h("button.person", { type: "button", data: { key: "person" }, title: "Be somebody else", onclick: act.choosePerson }, avatar(person), h("span.who", {}, h("span.name", { vars: tint(person) }, person.name), h("span.quiet", {}, person.title))),
      iconButton("sun", "Light or dark", act.theme, { keys: "Ctrl+Shift+L", data: { key: "theme" } }),
      iconButton("help", "Keyboard shortcuts", act.help, { keys: "?", data: { key: "help" } }),
    ),
  );
  bar.querySelector(".places").scrollTop = scrolled;
  if (focused) bar.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

export const tint = (person) => (person.color ? { "--tint": `#${person.color.toString(16).padStart(6, "0")}` } : {});

function group({ name, places }) {
  return h("section", {}, name && h("h2", {}, name), h("ul", {}, places.map(entry)));
}

function entry(place) {
  const isHere = place.id === state.place;
  const quiet = !place.unread || isHere;
  const parts = [titleOf(place)];
  if (!quiet) parts.push(`${many(place.unread, "new message")}${place.pinged ? ", for you" : ""}`);
  const row = h(
    "button.place",
    { type: "button", "aria-current": isHere ? "page" : undefined, "aria-label": parts.join(", "), class: [isThread(place) && "thread", !quiet && "unread"].filter(Boolean).join(" ") || undefined, data: { key: `place-${place.id}` }, onclick: () => act.go(place.id) },
    place.type === Kind.DM ? avatar(bot(), ".tiny") : icon(iconOf(place)),
    h("span.place-name", {}, place.name),
    !quiet && place.pinged && h("span.count", { "aria-hidden": "true" }, place.unread > 98 ? "99+" : String(place.unread)),
  );
  return h("li", {}, row);
}

// --- above the messages ----------------------------------------------------------------------------------------------

export function drawHeading() {
  const bar = document.getElementById("heading");
  const place = here();
  if (!place) return replace(bar);
  const parent = isThread(place) && state.places.get(place.parent);
  const elsewhere = state.directory.places.some((each) => each.id !== place.id && each.unread);
  const focused = bar.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  replace(
    bar,
    iconButton("menu", elsewhere ? "Places, with new messages" : "Places", act.openDrawer, { class: `tool only-narrow${elsewhere ? " dotted" : ""}` }),
    h("div.title", {}, place.type === Kind.DM ? avatar(bot(), ".tiny") : icon(iconOf(place)), h("h1", {}, place.name), place.archived && h("span.badge", {}, "Archived"), place.locked && h("span.badge", {}, "Locked"), parent ? h("button.link.topic", { type: "button", onclick: () => act.go(parent.id) }, `in ${titleOf(parent)}`) : place.topic && h("span.topic", { title: place.topic }, place.topic)),
    threadTools(place),
    place.type === Kind.FORUM ? null : iconButton("pin", "Pinned messages", ({ currentTarget }) => act.pins(currentTarget), { class: "only-wide" }),
    iconButton("people", "People", ({ currentTarget }) => act.people(currentTarget)),
    iconButton("record", "What is on record", act.togglePanel, { keys: "Ctrl+.", "aria-pressed": String(document.getElementById("app").dataset.panel === "open") }),
  );
  if (focused) bar.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
}

function threadTools(place) {
  if (place.type === Kind.FORUM || place.can.thread) {
    return iconButton("thread", place.type === Kind.FORUM ? "New post" : "New thread", () => newThread(place), place.type === Kind.FORUM ? {} : { keys: "T" });
  }
  const mine = isThread(place) && (place.owner === state.directory.me || place.can.manage_threads);
  return [
    isThread(place) && place.can.manage_threads ? iconButton("lock", place.locked ? "Unlock this thread" : "Lock this thread", () => act.lock(place, !place.locked), { "aria-pressed": String(place.locked) }) : null,
    mine ? iconButton("archive", place.archived ? "Open it again" : "Archive this thread", () => act.archive(place, !place.archived)) : null,
  ];
}

export function newThread(place, message = null) {
  const isForum = place.type === Kind.FORUM;
  const fields = [{ name: "name", label: isForum ? "Title" : "Name", required: true, max: 100, value: message ? message.content.replace(/<[^>]*>/g, "").trim().slice(0, 40) : "" }];
  if (isForum || !message) fields.push({ name: "text", label: isForum ? "Words" : "First message (may be empty)", required: isForum, max: 4000, long: true });
  form(isForum ? `New post in ${place.name}` : "New thread", fields, isForum ? "Post" : "Open", (values) => act.startThread(place, message, values));
}

/** A forum shows its posts where other places show messages. */
export function forumPosts() {
  const place = here();
  const posts = state.directory.places.filter((each) => each.parent === place.id).sort((left, right) => left.archived - right.archived || (right.last ?? right.created) - (left.last ?? left.created) || byId(right.id, left.id));
  const rows = posts.map((post) => h("li", {}, h("button.post", { type: "button", class: post.archived ? "archived" : undefined, data: { key: `post-${post.id}` }, onclick: () => act.go(post.id) }, h("strong", {}, post.name), h("span.quiet", {}, `${nameOf(post.owner)} · ${many(post.count, "message")} · ${shortOf(post.last ?? post.created)}${post.archived ? " · archived" : ""}`), post.unread ? h("span.count", {}, String(post.unread)) : null)));
  return h("div.forum", {}, place.can.say && h("button.primary", { type: "button", onclick: () => newThread(place) }, icon("plus"), "New post"), rows.length ? h("ul.posts", { "aria-label": "Posts" }, rows) : h("p.quiet", {}, "Nobody has posted here yet."));
}
