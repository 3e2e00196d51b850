// Discord's markdown, as elements. Nothing here makes markup out of text: what is not understood stays text.

import { h, icon } from "./dom.js";

const DEEPEST = 8;
const FENCE = /```(?:([\w+#.-]{0,30})\n)?([\s\S]*?)```/g;
const PUNCTUATION = /[\\`*_~|{}[\]()#+\-.!<>:@/]/;
const LINK = /^https?:\/\/[^\s<>"]+/;

/**
 * `names` says what mentions are called: {person(id), role(id), place(id)} give {name, color?} or undefined,
 * former(id) who is not here any more, and
 * {onperson(id), onplace(id), onmessage(place, id)} are called when one is pressed. `names.everyone` is whether @everyone is a mention.
 */
export function markdown(text, names) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  for (const found of text.matchAll(FENCE)) {
    const [whole, language, code] = found;
    if (!code.trim()) continue;
    blocks(fragment, text.slice(from, found.index).replace(/\n$/, ""), names, 0);
    fragment.append(fence(language ?? "", code.replace(/^\n+|\s+$/g, "")));
    from = found.index + whole.length;
    if (text[from] === "\n") from += 1;
  }
  blocks(fragment, text.slice(from), names, 0);
  return fragment;
}

function fence(language, code) {
  const copy = h("button.tool.copy", { type: "button", "aria-label": "Copy this code", title: "Copy" }, icon("copy"));
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code);
    copy.replaceChildren(icon("check"));
    setTimeout(() => copy.replaceChildren(icon("copy")), 1200);
  });
  return h("div.fence", {}, h("pre", { tabindex: "0", "aria-label": language ? `Code, ${language}` : "Code" }, h("code", {}, code)), language && h("span.language", { "aria-hidden": "true" }, language), copy);
}

// --- blocks: headings, quotes, lists, and lines of text --------------------------------------------------------------

function blocks(into, text, names, depth) {
  if (!text) return;
  const lines = text.split("\n");
  let plain = [];
  const flush = () => {
    if (plain.length) inline(into, plain.join("\n"), names, depth);
    plain = [];
  };
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    const heading = /^(#{1,3}|-#) +(\S.*)$/.exec(line);
    if (heading) {
      flush();
      const [, mark, words] = heading;
      // A message's headings are below those of the page.
      const made = mark === "-#" ? h("div.subtext") : h("div.heading", { role: "heading", "aria-level": String(mark.length + 2), data: { level: mark.length } });
      inline(made, words, names, depth + 1);
      into.append(made);
    } else if (/^>>> /.test(line) && depth < DEEPEST) {
      flush();
      const rest = [line.slice(4), ...lines.slice(index + 1)].join("\n");
      const quote = h("blockquote");
      blocks(quote, rest, names, depth + 1);
      into.append(quote);
      return;
    } else if (/^> ?/.test(line) && line !== ">" && depth < DEEPEST) {
      flush();
      const inside = [];
      while (index < lines.length && /^> /.test(lines[index] + " ")) inside.push(lines[index++].slice(2));
      index -= 1;
      const quote = h("blockquote");
      blocks(quote, inside.join("\n"), names, depth + 1);
      into.append(quote);
    } else if (ITEM.test(line)) {
      flush();
      const end = listEnd(lines, index);
      into.append(list(lines.slice(index, end), names, depth));
      index = end - 1;
    } else {
      plain.push(line);
    }
  }
  flush();
}

const ITEM = /^( *)([-*]|\d{1,9}\.) +(\S.*)$/;

const isNumber = (mark) => /\d/.test(mark);

function listEnd(lines, from) {
  const [, indent, mark] = ITEM.exec(lines[from]);
  let end = from + 1;
  for (; end < lines.length; end += 1) {
    const item = ITEM.exec(lines[end]);
    if (item ? item[1].length <= indent.length && isNumber(item[2]) !== isNumber(mark) : !/^ {2,}\S/.test(lines[end])) break;
  }
  return end;
}

function list(lines, names, depth) {
  const [, indent, mark] = ITEM.exec(lines[0]);
  const isNumbered = isNumber(mark);
  const made = h(isNumbered ? "ol" : "ul", isNumbered && mark !== "1." ? { start: String(parseInt(mark, 10)) } : {});
  let item = null;
  for (let index = 0; index < lines.length; index += 1) {
    const found = ITEM.exec(lines[index]);
    if (found && found[1].length <= indent.length + 1) {
      item = h("li");
      inline(item, found[3], names, depth + 1);
      made.append(item);
    } else if (found && depth < DEEPEST) {
      let end = index + 1;
      while (end < lines.length && !(ITEM.exec(lines[end])?.[1].length <= indent.length + 1)) end += 1;
      item.append(list(lines.slice(index, end), names, depth + 1));
      index = end - 1;
    } else {
      item.append("\n");
      inline(item, lines[index].trim(), names, depth + 1);
    }
  }
  return made;
}

// --- within a line ---------------------------------------------------------------------------------------------------

const STYLES = [
  ["||", spoiler],
  ["**", () => h("strong")],
  ["__", () => h("u")],
  ["~~", () => h("s")],
  ["*", () => h("em")],
  ["_", () => h("em")],
];
const NEXT = /[\\`*_~|<[@]|https?:\/\//g;

function inline(into, text, names, depth) {
  let from = 0;
  let at = 0;
  const take = (length, ...made) => {
    if (at > from) into.append(text.slice(from, at));
    into.append(...made);
    at += length;
    from = at;
  };
  while (at < text.length) {
    NEXT.lastIndex = at;
    const next = NEXT.exec(text);
    if (!next) break;
    at = next.index;
    const [length, made] = special(text, at, names, depth) ?? [0];
    if (length) take(length, made);
    else at += 1;
  }
  if (from < text.length) into.append(text.slice(from));
}

/** What stands at `at`: [its length, what it becomes], or undefined for plain text. */
function special(text, at, names, depth) {
  const character = text[at];
  if (character === "\\") return PUNCTUATION.test(text[at + 1] ?? "") ? [2, text[at + 1]] : undefined;
  if (character === "`") return code(text, at);
  if (character === "<") return pointed(text.slice(at, at + 400), names);
  if (character === "h") return bare(text.slice(at), names);
  if (character === "[") return masked(text, at, names, depth);
  if (character === "@") return everyone(text, at, names);
  return depth < DEEPEST ? styled(text, at, names, depth) : undefined;
}

function code(text, at) {
  const mark = text.startsWith("``", at) ? "``" : "`";
  const end = text.indexOf(mark, at + mark.length);
  if (end <= at + mark.length) return undefined;
  return [end + mark.length - at, h("code", {}, text.slice(at + mark.length, end).replace(/^ (.*`.*) $/, "$1"))];
}

function styled(text, at, names, depth) {
  for (const [mark, make] of STYLES) {
    if (!text.startsWith(mark, at)) continue;
    const end = closer(text, at, mark);
    if (end < 0) continue;
    const element = make();
    inline(element.inner ?? element, text.slice(at + mark.length, end), names, depth + 1);
    return [end + mark.length - at, element];
  }
  return undefined;
}

function closer(text, at, mark) {
  const first = at + mark.length;
  if (/\s/.test(text[first] ?? " ") && mark.length === 1) return -1;
  if (mark[0] === "_" && /\w/.test(text[at - 1] ?? "")) return -1;
  for (let end = text.indexOf(mark, first); end >= 0; end = text.indexOf(mark, end + 1)) {
    if (end === first) continue;
    if (text[end - 1] === "\\" && text[end - 2] !== "\\") continue;
    if (mark.length === 1 && (/\s/.test(text[end - 1]) || text[end + 1] === mark || text[end - 1] === mark)) continue;
    if (mark === "**" && text[end + 2] === "*") end += 1;
    if (mark[0] === "_" && /\w/.test(text[end + mark.length] ?? "")) continue;
    return end;
  }
  return -1;
}

function spoiler() {
  const inner = h("span");
  const made = h("span.spoiler", { role: "button", tabindex: "0", "aria-expanded": "false", "aria-label": "Spoiler: press to show" }, inner);
  made.inner = inner;
  inner.inert = true;
  const show = (event) => {
    if (made.classList.contains("shown") || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    made.classList.add("shown");
    inner.inert = false;
    made.setAttribute("aria-expanded", "true");
    made.removeAttribute("aria-label");
  };
  made.addEventListener("click", show);
  made.addEventListener("keydown", show);
  return made;
}

// --- links -----------------------------------------------------------------------------------------------------------

export function link(address, ...label) {
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer", title: address }, ...(label.length ? label : [address]));
}

const OWN = /^https:\/\/(?:\w+\.)?discord\.com\/channels\/(?:\d+|@me)\/(\d{1,20})(?:\/(\d{1,20}))?$/;

/** An address; one of a place or message that is here leads there. */
function linked(address, names, ...label) {
  const [, place, message] = OWN.exec(address) ?? [];
  const known = place && names.onmessage && names.place(place);
  if (!known) return link(address, ...label);
  const where = label.length ? label : [`${known.type === 1 ? "" : "#"}${known.name}${message ? " › message" : ""}`];
  return h("button.mention", { type: "button", title: address, onclick: () => (message ? names.onmessage(place, message) : names.onplace(place)) }, ...where);
}

function bare(text, names) {
  const found = LINK.exec(text)?.[0].replace(/[.,:;!?'"*_~|]+$/, "");
  if (!found) return undefined;
  const open = (found.match(/\(/g) ?? []).length;
  let address = found;
  while (address.endsWith(")") && (address.match(/\)/g) ?? []).length > open) address = address.slice(0, -1);
  return isAddress(address) ? [address.length, linked(address, names)] : undefined;
}

function masked(text, at, names, depth) {
  const found = /^\[([^[\]\n]{1,400})\]\(<?(https?:\/\/(?:[^\s<>()"]|\([^\s<>()"]*\)){1,2000})>?(?: +"[^"\n]{0,200}")?\)/.exec(text.slice(at, at + 2700));
  if (!found || !isAddress(found[2]) || depth >= DEEPEST) return undefined;
  const label = h("span");
  inline(label, found[1], { ...names, plain: true }, DEEPEST);
  return [found[0].length, linked(found[2], names, ...label.childNodes)];
}

function isAddress(text) {
  try {
    return ["http:", "https:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

// --- mentions, emoji, times ------------------------------------------------------------------------------------------

function everyone(text, at, names) {
  const found = /^@(?:everyone|here)\b/.exec(text.slice(at, at + 10));
  return found && names.everyone ? [found[0].length, h("span.mention", {}, found[0])] : undefined;
}

function pointed(text, names) {
  let found = /^<(https?:\/\/[^\s<>]+)>/.exec(text);
  if (found) return isAddress(found[1]) ? [found[0].length, linked(found[1], names)] : undefined;
  found = /^<(@!?|@&|#)(\d{1,20})>/.exec(text);
  if (found) return [found[0].length, mention(found[1], found[2], found[0], names)];
  found = /^<a?:(\w{1,32}):\d{1,20}>/.exec(text);
  if (found) return [found[0].length, h("span.custom-emoji", { title: `:${found[1]}:` }, `:${found[1]}:`)];
  found = /^<\/([-\w\p{L}\p{N} ]{1,100}):\d{1,20}>/u.exec(text);
  if (found) return [found[0].length, h("span.mention", {}, `/${found[1]}`)];
  found = /^<t:(-?\d{1,13})(?::([tTdDfFR]))?>/.exec(text);
  return found ? [found[0].length, time(Number(found[1]) * 1000, found[2] ?? "f")] : undefined;
}

function mention(mark, id, whole, names) {
  if (mark === "#") {
    const place = names.place(id);
    if (!place) return h("span.mention", {}, "#unknown");
    return h("button.mention", { type: "button", onclick: () => names.onplace(id) }, `#${place.name}`);
  }
  const known = mark === "@&" ? names.role(id) : names.person(id);
  const former = mark !== "@&" && !known ? names.former?.(id) : undefined;
  if (!known) return h("span.mention", {}, mark === "@&" ? "@unknown role" : former ? `@${former.name}` : whole);
  if (mark === "@&") return h("span.mention", { vars: known.color ? { "--tint": `#${known.color.toString(16).padStart(6, "0")}` } : {} }, `@${known.name}`);
  return h("button.mention", { type: "button", onclick: ({ currentTarget }) => names.onperson?.(id, currentTarget) }, `@${known.name}`);
}

const TIMES = {
  t: { timeStyle: "short" },
  T: { timeStyle: "medium" },
  d: { dateStyle: "short" },
  D: { dateStyle: "long" },
  f: { dateStyle: "long", timeStyle: "short" },
  F: { dateStyle: "full", timeStyle: "short" },
};
const STEPS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]];

function time(at, style) {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return h("span", {}, "an impossible time");
  const full = new Intl.DateTimeFormat(undefined, TIMES.F).format(moment);
  return h("time.stamp", { datetime: moment.toISOString(), title: full }, style === "R" ? relative(at) : new Intl.DateTimeFormat(undefined, TIMES[style]).format(moment));
}

function relative(at) {
  const seconds = (at - Date.now()) / 1000;
  const [unit, size] = STEPS.find(([, each]) => Math.abs(seconds) >= each) ?? STEPS.at(-1);
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

const JUMBO = /^(?:\s*(?:\p{Extended_Pictographic}(?:\ufe0f|\u200d\p{Extended_Pictographic}|\p{Emoji_Modifier})*|\p{Regional_Indicator}{2}|[0-9#*]\ufe0f?\u20e3))+\s*$/u;

/** Whether a text is nothing but a few emoji, which are shown large. */
export const isJumbo = (text) => text.length < 120 && JUMBO.test(text);
