// Where one writes: the box, what it completes, files, replies, and editing in place.

import { h, icon, iconButton, isCoarse, put, replace, unique } from "./dom.js";
import { EMOJI } from "./emoji.js";
import { toast } from "./floating.js";
import { markdown } from "./markdown.js";
import { names } from "./messages.js";
import { asSent, asWritten, here, iconOf, isThread, Kind, nameOf, sizeOf, state, titleOf } from "./state.js";
import { MOST_BYTES, upload } from "./uploads.js";

const MOST_FILES = 10;
const LONGEST = 4000;
const TYPING_EVERY_MS = 8000;

let act = {};
let box;
let files = []; // {file, name, size, id?: Promise}
let typedAt = 0;

export function setUp(actions) {
  act = actions;
  const form = document.getElementById("composer");
  box = field({ label: "Message", onsend: send, oncancel: cancel, onup: act.editLast });
  const chooser = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", "aria-hidden": "true", onchange: () => attach(chooser.files) });
  form.append(
    h("div#replying", { hidden: true }),
    h("div#files", { hidden: true }),
    h("div.box", {}, iconButton("attach", "Attach files", () => chooser.click(), { keys: "Ctrl+U", id: "attach" }), chooser, box, iconButton("react", "Emoji", ({ currentTarget }) => act.pickInto(currentTarget, insert), { id: "emoji" }), h("button.tool.send", { "aria-label": "Send", title: "Send (Enter)" }, icon("send"))),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  box.addEventListener("input", typing);
  document.addEventListener("paste", ({ clipboardData }) => clipboardData?.files.length && box.matches(":focus") && attach(clipboardData.files));
  const talk = document.getElementById("talk");
  talk.addEventListener("dragover", (event) => event.preventDefault());
  talk.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer?.files.length) attach(event.dataTransfer.files);
  });
}

export const chooseFiles = () => document.querySelector("#composer input[type=file]").click();

/** A box that grows, completes names, sends with Enter, and gives up with Esc. */
function field({ label, value = "", onsend, oncancel, onup }) {
  const area = h("textarea", { rows: "1", "aria-label": label, maxlength: String(LONGEST), spellcheck: "true", role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-haspopup": "listbox" });
  area.value = value;
  const grow = () => {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
  };
  const completion = complete(area, grow);
  area.grow = grow;
  area.addEventListener("input", grow);
  area.addEventListener("keydown", (event) => {
    if (event.isComposing || completion.take(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !isCoarse()) {
      event.preventDefault();
      onsend();
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      oncancel();
    } else if (event.key === "ArrowUp" && !area.value && onup) {
      event.preventDefault();
      onup();
    }
  });
  return area;
}

// --- completion ------------------------------------------------------------------------------------------------------

const TRIGGER = /(?:^|[\s(])([@#:])([\p{L}\p{N}_.-]*(?: [\p{L}\p{N}_.-]+)?)$/u;
const MOST_OFFERED = 8;

function offers(mark, word) {
  const wanted = word.toLowerCase();
  const { directory } = state;
  const fits = (name) => name.toLowerCase().includes(wanted);
  let found;
  if (mark === "@") {
    found = [
      ...directory.people.filter(({ name, handle }) => fits(name) || fits(handle)).map(({ name, title, id }) => ({ text: `@${name}`, label: name, note: id === directory.bot ? "answers you" : title, first: id === directory.bot })),
      ...directory.roles.filter(({ name, everyone, managed }) => !everyone && !managed && fits(name)).map(({ name }) => ({ text: `@${name}`, label: `@${name}`, note: "Role" })),
    ];
  } else if (mark === "#") {
    found = directory.places.filter((place) => place.type !== Kind.DM && place.type !== Kind.CATEGORY && fits(place.name)).map((place) => ({ text: `#${place.name}`, label: place.name, note: isThread(place) ? "Thread" : "", icon: iconOf(place) }));
  } else {
    if (word.length < 2) return [];
    found = [
      ...directory.emojis.filter(({ name }) => fits(name)).map(({ name }) => ({ text: `:${name}:`, label: `:${name}:` })),
      ...EMOJI.filter(([, words]) => words.split(" ").some((each) => each.startsWith(wanted))).map(([emoji, words]) => ({ text: emoji, label: `${emoji}  ${words.split(" ")[0]}` })),
    ];
  }
  const starts = ({ label, first }) => (first ? 2 : 0) + (label.toLowerCase().startsWith(wanted) ? 1 : 0);
  return found.sort((left, right) => starts(right) - starts(left)).slice(0, MOST_OFFERED);
}

function complete(area, grow) {
  const list = h(`ul.completion#${unique("completion")}`, { role: "listbox", "aria-label": "Completions", hidden: true });
  let offered = [];
  let at = 0;
  let from = 0;
  area.setAttribute("aria-controls", list.id);
  const close = () => {
    list.hidden = true;
    offered = [];
    area.setAttribute("aria-expanded", "false");
    area.removeAttribute("aria-activedescendant");
  };
  const mark = () => {
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
    area.setAttribute("aria-activedescendant", list.children[at].id);
  };
  const choose = (index) => {
    const chosen = offered[index];
    const end = area.selectionStart;
    if (chosen.run) {
      close();
      area.value = "";
      grow();
      chosen.run();
      return;
    }
    area.setRangeText(`${chosen.text} `, from, end, "end");
    close();
    grow();
    area.dispatchEvent(new Event("input"));
  };
  const look = () => {
    if (!list.isConnected) area.after(list);
    const before = area.value.slice(0, area.selectionStart);
    const found = TRIGGER.exec(before);
    if (area.selectionStart !== area.selectionEnd) return close();
    if (before.startsWith("/") && act.commands && area === box) offered = act.commands(before.slice(1));
    else if (found) {
      from = before.length - found[2].length - 1;
      offered = offers(found[1], found[2]);
    } else offered = [];
    if (!offered.length) return close();
    at = 0;
    replace(
      list,
      offered.map((each, index) => h(`li#${unique("option")}`, { role: "option", onpointerdown: (event) => (event.preventDefault(), choose(index)) }, each.icon && icon(each.icon), h("span", {}, each.label), each.note && h("span.quiet", {}, each.note))),
    );
    list.hidden = false;
    area.setAttribute("aria-expanded", "true");
    mark();
  };
  const isWritten = ({ text }) => text?.toLowerCase() === area.value.slice(from, area.selectionStart).toLowerCase();
  area.addEventListener("input", look);
  area.addEventListener("click", look);
  area.addEventListener("blur", close);
  return {
    take(event) {
      if (list.hidden) return false;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        at = (at + step + offered.length) % offered.length;
        mark();
      } else if (event.key === "Enter" && isWritten(offered[at])) {
        // The name stands there whole: Enter means the message.
        close();
        return false;
      } else if (event.key === "Enter" || event.key === "Tab") choose(at);
      else if (event.key === "Escape") close();
      else return false;
      event.preventDefault();
      event.stopPropagation();
      return true;
    },
  };
}

// --- sending ---------------------------------------------------------------------------------------------------------

async function send() {
  const text = box.value.trim();
  const carried = files;
  const place = here();
  if ((!text && !carried.length) || !place?.can.say) return;
  const reply = state.reply;
  box.value = "";
  files = [];
  act.reply(null);
  refresh();
  state.drafts.delete(place.id);
  typedAt = 0;
  try {
    const ids = await Promise.all(carried.map(({ id }) => id));
    await act.say({ text: asSent(text), files: ids, ...(reply ? { reply: reply.id, ping: reply.ping } : {}) });
  } catch (error) {
    // Nothing that was written is lost.
    if (!box.value && state.place === place.id) {
      box.value = text;
      files = carried;
      refresh();
    }
    toast(error.message);
  }
}

function cancel() {
  if (state.reply) act.reply(null);
  else if (files.length) {
    files = [];
    refresh();
  } else act.escape();
}

function typing() {
  const now = Date.now();
  state.drafts.set(state.place, box.value);
  if (!box.value.trim() || box.value.startsWith("/") || now - typedAt < TYPING_EVERY_MS) return;
  typedAt = now;
  act.typing();
}

export function insert(text) {
  box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
  box.focus();
  box.dispatchEvent(new Event("input"));
}

export function suggest(text) {
  box.value = text;
  box.focus();
  box.dispatchEvent(new Event("input"));
}

export const focus = () => box.focus({ preventScroll: true });
export const isFocused = () => document.activeElement === box;

// --- what is shown above and in the box ------------------------------------------------------------------------------

/** The box of a place that was just entered. */
export function enter() {
  files = [];
  typedAt = 0;
  box.value = state.drafts.get(state.place) ?? "";
  refresh();
}

export function refresh() {
  const place = here();
  const form = document.getElementById("composer");
  const may = Boolean(place?.can.say) && place.type !== Kind.FORUM && place.type !== Kind.VOICE;
  form.classList.toggle("closed", !may);
  box.disabled = !may;
  for (const button of form.querySelectorAll(".box > button")) button.disabled = !may;
  form.querySelector("#attach").disabled = !may || !place.can.attach;
  box.placeholder = placeholder(place, may);
  box.grow();
  const replying = form.querySelector("#replying");
  replying.hidden = !state.reply;
  const target = state.reply && state.messages.get(state.reply.id);
  if (target) {
    const preview = markdown(target.content.slice(0, 160).replace(/\s+/g, " "), { ...names(), onperson: undefined }).textContent;
    const ping = h("button.link", { type: "button", "aria-pressed": String(state.reply.ping), title: "Whether they are notified", onclick: () => act.reply(target, { ping: !state.reply.ping }) }, state.reply.ping ? "@ on" : "@ off");
    replace(replying, icon("reply"), h("span", {}, "Replying to ", h("strong", {}, nameOf(target.author.id, target.author.username)), " ", h("span.quiet", {}, preview)), target.view.mine || place.type === Kind.DM ? null : ping, iconButton("close", "Do not reply", () => act.reply(null), { keys: "Esc" }));
  }
  const strip = form.querySelector("#files");
  strip.hidden = !files.length;
  replace(
    strip,
    files.map((each, index) => h("div.chip", {}, each.preview ? h("img", { src: each.preview, alt: "" }) : icon("file"), h("span.file-name", {}, each.name), h("span.quiet", {}, sizeOf(each.size)), iconButton("close", `Do not attach ${each.name}`, () => (files.splice(index, 1), refresh())))),
  );
}

function placeholder(place, may) {
  if (!place) return "";
  if (place.locked && !may) return "This thread is locked";
  if (place.type === Kind.FORUM) return "Open a post to write in it";
  if (!may) return "You may read here, and not write";
  return `Message ${place.type === Kind.DM ? place.name : titleOf(place)}`;
}

// --- files -----------------------------------------------------------------------------------------------------------

export function attach(chosen) {
  for (const file of chosen) {
    if (files.length >= MOST_FILES) return toast(`A message carries ${MOST_FILES} files at most.`);
    if (file.size > MOST_BYTES) {
      toast(`${file.name} is larger than ${sizeOf(MOST_BYTES)}.`);
      continue;
    }
    const entry = { name: file.name, size: file.size, preview: file.type.startsWith("image/") ? URL.createObjectURL(file) : null };
    entry.id = upload(file);
    entry.id.catch((error) => {
      files = files.filter((each) => each !== entry);
      toast(error.message);
      refresh();
    });
    files.push(entry);
  }
  refresh();
  focus();
}

// --- editing in place ------------------------------------------------------------------------------------------------

export function editor(message) {
  const leave = () => act.edit(null);
  const save = async () => {
    try {
      await act.saveEdit(message, asSent(area.value));
    } catch (error) {
      toast(error.message);
    }
  };
  const area = field({ label: "Edit your message", value: asWritten(message.content), onsend: save, oncancel: leave });
  const body = h("div.editing", {}, h("div.box", {}, area), h("div.quiet", {}, "Enter saves, Esc cancels. ", h("button.link", { type: "button", onclick: save }, "Save"), " ", h("button.link", { type: "button", onclick: leave }, "Cancel")));
  body.begin = () => {
    area.grow();
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
    area.closest(".message").scrollIntoView({ block: "nearest" });
  };
  return body;
}

// --- who is typing ---------------------------------------------------------------------------------------------------

let clearing;

export function showTyping() {
  clearTimeout(clearing);
  const now = Date.now();
  const who = state.typing.filter(({ until }) => until > now);
  const line = document.getElementById("typing");
  if (who.length) clearing = setTimeout(showTyping, Math.min(...who.map(({ until }) => until)) - now + 50);
  const called = who.slice(0, 3).map(({ id }) => nameOf(id, state.hello.bot));
  line.replaceChildren();
  if (!called.length) return;
  const whole = who.length > 3 ? "Several people are typing" : `${new Intl.ListFormat("en").format(called)} ${called.length === 1 ? "is" : "are"} typing`;
  put(line, [h("span.dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), whole]);
}
