// The page: what happens when, and who is told of it.

import * as commands from "./commands.js";
import { modal } from "./components.js";
import * as composer from "./composer.js";
import { announce, replace } from "./dom.js";
import { confirm, menu, pickEmoji, toast } from "./floating.js";
import { Link } from "./link.js";
import * as messages from "./messages.js";
import * as panel from "./panel.js";
import { choosePerson, help, jump, listPeople } from "./people.js";
import * as sidebar from "./sidebar.js";
import { asSent, authorOf, bot, byId, here, isThread, Kind, nameOf, ordered, state, takeDirectory, titleOf } from "./state.js";
import * as theme from "./theme.js";

const WIDE = matchMedia("(min-width: 1100px)");
const app = document.getElementById("app");

// --- who and where: kept in the address, so that reloading changes nothing and a tab can be somebody else -------------

// The key has become a cookie.
if (location.search) history.replaceState(null, "", location.pathname + location.hash);

const address = () => /^#([a-z0-9_]+)(?:\/(\d+))?$/.exec(location.hash) ?? [];
let chosenPerson = null;

async function begin() {
  const [, handle] = address();
  const known = state.hello.people.find((person) => !person.bot && person.handle === handle);
  const chosen = state.hello.people.find(({ id }) => id === chosenPerson)?.id ?? known?.id ?? (await choosePerson(null));
  try {
    await become(chosen, address()[2]);
  } catch (error) {
    // They left meanwhile, or the line broke again; then it begins anew by itself.
    chosenPerson = null;
    toast(error.message);
  }
}

async function become(id, wanted = state.place) {
  chosenPerson = id;
  state.chosen = state.reply = state.editing = null;
  await link.ask("be", { who: id });
  app.hidden = false;
  const first = state.directory.places.find(({ type }) => type === Kind.TEXT) ?? state.directory.places.at(-1);
  await go(state.places.has(wanted) ? wanted : first.id, { force: true });
  announce(`You are ${nameOf(id)}.`);
}

async function go(id, { force = false } = {}) {
  closeDrawer();
  const place = state.places.get(id);
  if (!place || (id === state.place && !force)) return composer.focus();
  if (place.type === Kind.CATEGORY) return undefined;
  state.place = id;
  state.messages = new Map();
  commands.clear();
  state.commands = { slash: [], user: [], message: [] };
  state.typing = [];
  state.more = false;
  state.reply = state.editing = state.chosen = null;
  state.unreadAfter = place.unread ? place.read : null;
  messages.forget();
  messages.dropDividers();
  const me = state.people.get(chosenPerson);
  history.replaceState(null, "", `#${me.handle}/${id}`);
  drawPlaces();
  composer.enter();
  composer.showTyping();
  messages.draw({ fresh: true });
  await asked("open", { place: id });
  composer.focus();
  panel.refresh({ again: true });
  return undefined;
}

/** Ask, and tell the person where it is refused. */
async function asked(what, parameters) {
  try {
    return await link.ask(what, parameters);
  } catch (error) {
    toast(error.message);
    return undefined;
  }
}

// --- what comes in ---------------------------------------------------------------------------------------------------

const frames = {
  hello(frame) {
    state.hello = frame;
    if (!frame.records) app.dataset.panel = "closed";
  },
  directory(frame) {
    const isRenamed = takeDirectory(frame);
    if (isRenamed) messages.forget();
    if (!state.places.has(state.place) || app.hidden) return;
    drawPlaces();
    if (isRenamed || here().type === Kind.FORUM) drawMessages();
    composer.refresh();
  },
  messages(frame) {
    if (frame.place !== state.place) return;
    const isFirst = frame.all;
    if (isFirst) state.messages = new Map();
    const before = state.messages.size;
    for (const id of frame.gone) state.messages.delete(id);
    for (const message of frame.put) {
      if (!isFirst && !state.messages.has(message.id)) tell(message);
      state.messages.set(message.id, message);
    }
    state.messages = new Map([...state.messages].sort(([left], [right]) => byId(left, right)));
    state.more = frame.more;
    if (state.reply && !state.messages.has(state.reply.id)) reply(null);
    if (state.editing && !state.messages.has(state.editing)) state.editing = null;
    drawMessages({ fresh: isFirst });
    if (before !== state.messages.size || frame.put.length) panel.refresh({ again: true });
    if (messages.isAtEnd()) read();
    older.waiting = false;
  },
  commands(frame) {
    if (frame.place === state.place) state.commands = frame.offered;
  },
  typing(frame) {
    if (frame.place !== state.place) return;
    state.typing = frame.who;
    composer.showTyping();
  },
  gone(frame) {
    // Kicked or banned: the page goes on as somebody else.
    state.hello = { ...state.hello, people: frame.people };
    toast("You are no longer in the server.");
    chosenPerson = null;
    state.place = null;
    history.replaceState(null, "", location.pathname);
    begin();
  },
  left(frame) {
    if (frame.place !== state.place) return;
    const fallback = state.directory.places.find(({ type }) => type === Kind.TEXT) ?? state.directory.places.at(-1);
    toast("That place is gone, or you can no longer see it.");
    if (fallback) go(fallback.id, { force: true });
  },
};

function tell(message) {
  if (!message.view.mine && byId(message.id, [...state.messages.keys()].at(-1) ?? "0") > 0) announce(`${authorOf(message).name}: ${message.content.slice(0, 200)}`);
}

function drawPlaces() {
  sidebar.draw();
  sidebar.drawHeading();
  const waiting = state.directory.places.filter(({ id, pinged }) => pinged && id !== state.place).reduce((sum, { unread }) => sum + unread, 0);
  document.title = `${waiting ? `(${waiting}) ` : ""}${titleOf(here())} · ${state.directory.guild.name}`;
}

function drawMessages(how) {
  const forum = here()?.type === Kind.FORUM;
  app.classList.toggle("in-forum", forum);
  messages.draw(how);
  if (forum) replace(document.getElementById("beginning"), sidebar.forumPosts());
}

// --- what a person does ----------------------------------------------------------------------------------------------

function older() {
  if (older.waiting) return;
  older.waiting = true;
  asked("older");
}

function read() {
  const last = [...state.messages.keys()].at(-1);
  const place = here();
  if (!last || !place || document.hidden || byId(last, place.read) <= 0) return;
  if (read.sent === `${chosenPerson}/${last}`) return;
  read.sent = `${chosenPerson}/${last}`;
  link.ask("read", { place: place.id, message: last }).catch(() => (read.sent = null));
}

function reply(message, { ping = true } = {}) {
  state.reply = message ? { id: message.id, ping } : null;
  composer.refresh();
  messages.draw();
  if (message) composer.focus();
}

function edit(message) {
  state.editing = message?.id ?? null;
  messages.draw();
  if (message) messages.elementOf(message.id).querySelector(".editing").begin();
  else composer.focus();
}

async function remove(message) {
  const isMine = message.view.mine;
  if (!(await confirm("Delete this message?", isMine ? "It disappears for everybody. What Muninn remembers by it goes too." : `It is ${authorOf(message).name}'s. It disappears for everybody.`, "Delete"))) return;
  await asked("delete", { place: state.place, message: message.id });
}

const mine = () => [...state.messages.values()].reverse().find(({ view }) => view.editable);

function mark(id) {
  state.chosen = id;
  messages.draw();
  panel.refresh({ again: true });
}

function inspect(id) {
  state.chosen = id;
  messages.draw();
  panel.open();
  sidebar.drawHeading();
}

function show(id) {
  const element = messages.elementOf(id);
  if (!element) return toast("That message is further back than what is shown.");
  element.scrollIntoView({ block: "center" });
  element.focus({ preventScroll: true });
  element.classList.remove("flash");
  requestAnimationFrame(() => element.classList.add("flash"));
  return undefined;
}

async function goTo(place, id) {
  if (place !== state.place) await go(place);
  show(id);
}

function react(message, emoji, on) {
  return asked(on ? "react" : "unreact", { place: state.place, message: message.id, emoji });
}

const ownEmoji = () => state.directory.emojis.map(({ id, name }) => ({ key: `${name}:${id}`, label: `:${name}:` }));

const pick = (message, anchor) => pickEmoji(anchor, ownEmoji(), (emoji) => react(message, emoji, true));

function openMenu(message, anchor) {
  const place = here();
  const own = message.view.private;
  menu(anchor, [
    !own && place.can.react && { label: "Add a reaction", icon: "react", keys: "A", run: () => pick(message, anchor) },
    !own && place.can.say && { label: "Reply", icon: "reply", keys: "R", run: () => reply(message) },
    message.view.editable && { label: "Edit", icon: "edit", keys: "E", run: () => edit(message) },
    !own && place.can.thread && !message.view.thread && { label: "Open a thread", icon: "thread", keys: "T", run: () => sidebar.newThread(place, message) },
    null,
    { label: "What is on record", icon: "record", keys: "I", run: () => inspect(message.id) },
    message.content && { label: "Copy the text", icon: "copy", run: () => navigator.clipboard.writeText(message.content) },
    { label: "Copy the id", icon: "copy", run: () => navigator.clipboard.writeText(message.id) },
    null,
    ...applicationItems("message", { message: message.id }, own),
    null,
    own && { label: "Dismiss", icon: "close", run: () => actions.dismiss(message) },
    place.can.pin && !own && { label: message.pinned ? "Unpin" : "Pin", icon: "pin", run: () => asked(message.pinned ? "unpin" : "pin", { place: place.id, message: message.id }) },
    message.view.deletable && !own && { label: "Delete", icon: "trash", keys: "Del", danger: true, run: () => remove(message) },
  ].filter((item) => item === null || item));
}

const applicationItems = (kind, target, none = false) => (none ? [] : state.commands[kind].map(({ name }) => ({ label: name, icon: "slash", run: () => use("menu", { place: state.place, name, ...target }).catch((error) => toast(error.message)) })));

/** Use a command, a component or a form; a form that comes back is shown. Throws where it is refused or not answered. */
async function use(what, parameters) {
  const { modal: form } = await link.ask(what, parameters);
  if (form) modal(form, messages.names(), (values) => use("submit", { modal: form.id, values }));
}

/** What keeps order, as far as one may try; Discord's hierarchy decides. */
function orderItems(person) {
  const { may } = state.directory;
  if (person.id === chosenPerson) return [];
  const { id, name } = person;
  const isOut = person.timed_out_until > Date.now();
  const sure = async (title, text, action, deed) => (await confirm(title, text, action)) && asked(deed, { person: id });
  return [
    may.time_out && (isOut ? { label: "Lift the time-out", icon: "check", run: () => asked("time_out", { person: id, minutes: "0" }) } : { label: "Time out for ten minutes", icon: "lock", run: () => asked("time_out", { person: id, minutes: "10" }) }),
    may.kick && { label: "Kick …", icon: "close", danger: true, run: () => sure(`Kick ${name}?`, "They are put out of the server.", "Kick", "kick") },
    may.ban && { label: "Ban …", icon: "trash", danger: true, run: () => sure(`Ban ${name}?`, "They are put out of the server and cannot come back.", "Ban", "ban") },
  ].filter(Boolean);
}

async function showPins(anchor) {
  const found = await asked("pinned", { place: state.place });
  if (found) messages.listPins(anchor, found, (id) => show(id));
}

function openPerson(id, anchor) {
  const person = state.people.get(id);
  const items = [{ heading: `${person.name} · ${person.roles.map((role) => state.roles.get(role)?.name).filter(Boolean).join(", ") || person.title}` }];
  if (here()?.can.say) items.push({ label: `Mention ${person.name}`, icon: "plus", run: () => composer.insert(`@${person.name} `) });
  if (id === bot().id) items.push({ label: "Direct message", icon: "dm", run: () => go(state.directory.places.find(({ type }) => type === Kind.DM).id) });
  else if (!person.bot && id !== chosenPerson) items.push({ label: `Be ${person.name}`, icon: "dm", run: () => become(id) });
  items.push({ label: "Copy the id", icon: "copy", run: () => navigator.clipboard.writeText(id) });
  items.push(null, ...applicationItems("user", { person: id }), null, ...orderItems(person));
  menu(anchor, items, person.name);
}

async function startThread(place, message, values) {
  const { place: made } = await link.ask("thread", { place: place.id, ...(message ? { message: message.id } : {}), name: values.name, ...(values.text ? { text: asSent(values.text) } : {}) });
  await go(made);
}

const togglePanel = () => {
  if (panel.isOpen()) panel.close();
  else panel.open();
  if (WIDE.matches) localStorage.setItem("panel", app.dataset.panel);
  sidebar.drawHeading();
  if (!panel.isOpen()) composer.focus();
};

const openDrawer = () => {
  app.dataset.drawer = "open";
  document.querySelector("#sidebar .place[aria-current]")?.focus();
};
const closeDrawer = () => (app.dataset.drawer = "closed");

function openJump() {
  if (document.querySelector("dialog[open]")) return;
  jump({
    go,
    be: become,
    commands: [
      { label: "What is on record", icon: "record", keys: "Ctrl .", run: togglePanel },
      { label: "Light or dark", icon: "sun", keys: "Ctrl Shift L", run: theme.next },
      { label: "Keyboard shortcuts", icon: "help", keys: "?", run: help },
      { label: "New thread here", icon: "thread", run: () => (here().can.thread || here().type === Kind.FORUM ? sidebar.newThread(here()) : toast("There can be no thread here.")) },
    ],
  });
}

async function changePerson() {
  const id = await choosePerson(chosenPerson);
  if (id !== chosenPerson) await become(id);
}

const actions = {
  go, goTo, older, read, reply, edit, mark, inspect, show, react, pick, startThread, togglePanel, openDrawer, closeDrawer, help,
  jump: openJump,
  person: openPerson,
  menu: openMenu,
  editor: composer.editor,
  choosePerson: changePerson,
  theme: theme.next,
  people: (anchor) => listPeople(anchor, openPerson),
  suggest: composer.suggest,
  ask: (what, parameters) => link.ask(what, parameters),
  say: (parameters) => link.ask("say", { place: state.place, ...parameters }),
  typing: () => link.ask("type", { place: state.place }).catch(() => undefined),
  editLast: () => mine() && edit(mine()),
  saveEdit: async (message, text) => {
    await link.ask("edit", { place: state.place, message: message.id, text });
    edit(null);
  },
  pickInto: (anchor, insert) => pickEmoji(anchor, state.directory.emojis.map(({ name }) => ({ key: `:${name}:`, label: `:${name}:` })), (emoji) => insert(emoji)),
  pins: showPins,
  vote: (message, answers) => asked("vote", { place: state.place, message: message.id, answers }),
  lock: (place, locked) => asked("lock", { place: place.id, locked }),
  archive: (place, archived) => asked("archive", { place: place.id, archived }),
  dismiss: (message) => asked("dismiss", { message: message.id }),
  press: (message, component) => use("press", { place: state.place, message: message.id, component }).catch((error) => toast(error.message)),
  choose: (message, component, values) => use("choose", { place: state.place, message: message.id, component, values }).catch((error) => toast(error.message)),
  use,
  commands: commands.completions,
  focus: composer.focus,
  escape: () => {
    messages.toEnd();
    state.unreadAfter = null;
    messages.draw();
    read();
  },
};

// --- keys ------------------------------------------------------------------------------------------------------------

function step(by, wanted = () => true) {
  const places = ordered().flatMap((group) => group.places);
  const at = places.findIndex(({ id }) => id === state.place);
  for (let index = 1; index <= places.length; index += 1) {
    const place = places[(at + by * index + places.length * index) % places.length];
    if (wanted(place)) return go(place.id);
  }
  return undefined;
}

const REGIONS = [() => document.querySelector("#sidebar .place[aria-current]"), () => [...document.querySelectorAll("#messages .message, #beginning .post")].at(-1), () => document.querySelector("#composer textarea"), () => (panel.isOpen() ? document.querySelector("#panel .follow") : null)];

function nextRegion(back) {
  const areas = ["sidebar", "scroller", "foot", "panel"].map((id) => document.getElementById(id));
  const at = areas.findIndex((area) => area.contains(document.activeElement));
  for (let index = 1; index <= areas.length; index += 1) {
    const target = REGIONS[(at + (back ? -index : index) + areas.length * 2) % areas.length]();
    if (target && target.offsetParent !== null) {
      target.focus();
      return;
    }
  }
}

function onMessage(event, element) {
  const message = state.messages.get(element.dataset.id);
  const rows = [...document.querySelectorAll("#messages .message")];
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (move) {
    const next = rows[rows.indexOf(element) + move];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
    if (!next && move > 0) composer.focus();
    return true;
  }
  if (event.target !== element || !message) return false;
  const place = here();
  const anchor = element.querySelector(".actions .tool:last-child") ?? element;
  const keys = {
    r: () => place.can.say && reply(message),
    a: () => place.can.react && pick(message, anchor),
    e: () => message.view.editable && edit(message),
    t: () => place.can.thread && !message.view.thread && sidebar.newThread(place, message),
    i: () => inspect(message.id),
    m: () => openMenu(message, anchor),
    Enter: () => openMenu(message, anchor),
    Delete: () => message.view.deletable && remove(message),
    Backspace: () => message.view.deletable && remove(message),
  };
  const run = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!run) return false;
  run();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (app.hidden || event.defaultPrevented || event.isComposing) return;
  const control = event.ctrlKey || event.metaKey;
  const typing = event.target.matches?.("input, textarea, select, [contenteditable]");
  const isModal = document.querySelector("dialog[open], [popover]:popover-open");
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  let done = true;
  if (control && key === "k") openJump();
  else if (isModal) done = false;
  else if (control && key === ".") togglePanel();
  else if (control && event.shiftKey && key === "l") theme.next();
  else if (control && key === "p" && !event.shiftKey) changePerson();
  else if (control && key === "u") composer.chooseFiles();
  else if (event.altKey && event.shiftKey && /^Arrow(Up|Down)$/.test(key)) step(key === "ArrowUp" ? -1 : 1, ({ unread, id }) => unread && id !== state.place);
  else if (event.altKey && /^Arrow(Up|Down)$/.test(key)) step(key === "ArrowUp" ? -1 : 1);
  else if (key === "F6") nextRegion(event.shiftKey);
  else if (control || event.altKey) done = false;
  else if (key === "Escape") {
    if (app.dataset.drawer === "open") closeDrawer();
    else if (panel.isOpen() && !WIDE.matches) togglePanel();
    else if (state.reply) reply(null);
    else {
      actions.escape();
      composer.focus();
    }
  } else if (typing) done = false;
  else if (key === "?") help();
  else {
    const row = event.target.closest?.("#messages .message");
    done = row ? onMessage(event, row) : false;
    // Whoever starts to write without having gone to the box means the box.
    if (!done && event.key.length === 1 && event.key !== " ") composer.focus();
  }
  if (done) event.preventDefault();
});

document.getElementById("messages").addEventListener("click", (event) => {
  const row = event.target.closest(".message");
  if (!row || event.target.closest("button, a, textarea, summary, pre, .spoiler, select, input") || String(getSelection())) return;
  if (panel.isOpen() && state.messages.has(row.dataset.id)) mark(row.dataset.id === state.chosen ? null : row.dataset.id);
  row.focus({ preventScroll: true });
});

document.getElementById("present").addEventListener("click", () => {
  messages.toEnd();
  read();
});
document.addEventListener("visibilitychange", () => messages.isAtEnd() && read());
addEventListener("hashchange", () => {
  const [, handle, place] = address();
  const person = state.hello?.people.find((each) => each.handle === handle);
  if (person && person.id !== chosenPerson) become(person.id, place);
  else if (place && place !== state.place) go(place);
});

// --- the line --------------------------------------------------------------------------------------------------------

messages.setUp(actions);
composer.setUp(actions);
commands.setUp(actions);
sidebar.setUp(actions);
panel.setUp(actions);
theme.setUp();
app.dataset.drawer = "closed";
app.dataset.panel = WIDE.matches && localStorage.getItem("panel") !== "closed" ? "open" : "closed";
WIDE.addEventListener("change", ({ matches }) => !matches && panel.isOpen() && togglePanel());

const lost = document.getElementById("lost");
const link = new Link({
  onframe: (frame) => frames[frame.op]?.(frame),
  onup: () => {
    lost.hidden = true;
    begin();
  },
  ondown: (tries) => {
    lost.textContent = tries < 4 ? "The connection was lost. Trying again …" : "The sandbox does not answer. Start it again with “make run”, and open the new link.";
    lost.hidden = false;
  },
});
