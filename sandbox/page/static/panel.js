// The side panel: what the bot has on record for a message, from its event to its receipts.

import { h, icon, iconButton, put, replace } from "./dom.js";
import { asWritten, authorOf, lasting, many, preciseOf, state } from "./state.js";

const AGAIN_MS = 700;
const QUIET_AGAIN_MS = 2500;
const LOOKS = 80;
const ENDS = new Set(["answered", "failed_told", "cancelled", "expired"]);

let act = {};
let shown = { id: null, place: null, written: "" };
let timer = null;
let looks = 0;
const opened = new Set(); // what was folded out, by name; a new drawing keeps it so

export function setUp(actions) {
  act = actions;
}

const app = () => document.getElementById("app");
export const isOpen = () => app().dataset.panel === "open";

export function open() {
  app().dataset.panel = "open";
  refresh({ again: true });
}

export function close() {
  app().dataset.panel = "closed";
  clearTimeout(timer);
}

/** The message that is shown: the chosen one, else the newest that concerns the bot. */
function subject() {
  if (state.chosen) return state.chosen; // also where it is deleted: its record stays
  const all = [...state.messages.values()].filter(({ view }) => !view.private).reverse();
  const found = all.find((message) => message.author.id === state.directory.bot) ?? all[0];
  const newestAsk = all.find((message) => message.author.id !== state.directory.bot && concerns(message));
  return (newestAsk && (!found || BigInt(newestAsk.id) > BigInt(found.id)) ? newestAsk : found)?.id ?? null;
}

const concerns = (message) => state.places.get(state.place)?.type === 1 || message.mentions.some(({ id }) => id === state.directory.bot) || message.view.reply?.author === state.directory.bot;

/** Look again at what is on record; with `again`, more often for a while, for it may still be growing. */
export async function refresh({ again = false } = {}) {
  if (!isOpen()) return;
  if (again) looks = LOOKS;
  clearTimeout(timer);
  const id = subject();
  const place = state.place;
  if (id !== shown.id || place !== shown.place) {
    shown = { id, place, written: "" };
    if (!id) return draw(null, null);
  }
  if (!id) return draw(null, null);
  let report = null;
  let run = null;
  try {
    report = await act.ask("inspect", { place, message: id });
    const last = report?.runs.at(-1);
    if (last) run = await act.ask("inspect_run", { place, run: last.run_id });
    const use = state.messages.get(id)?.interaction_metadata?.id;
    if (report && use) report.use = await act.ask("inspect", { place, message: use });
  } catch (error) {
    if (shown.id === id) draw(null, null, error.message);
    return;
  }
  if (shown.id !== id || shown.place !== place) return;
  const written = JSON.stringify([report, run, id === state.chosen, state.messages.get(id)?.content]);
  if (written !== shown.written) {
    shown.written = written;
    draw(report, run);
    looks = LOOKS;
  }
  const isOver = report && (report.turn ? ENDS.has(report.turn.state) && report.receipts.every(({ state: each }) => each !== "intended") : report.message);
  if (isOpen() && looks > 0) {
    looks -= isOver ? 20 : 1;
    timer = setTimeout(refresh, isOver ? QUIET_AGAIN_MS : AGAIN_MS);
  }
}

function draw(report, run, problem) {
  const box = document.getElementById("panel");
  const scrolled = box.querySelector(".record")?.scrollTop ?? 0;
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const body = h("div.record", { tabindex: "-1" });
  if (!state.hello.records) body.append(h("p.quiet", {}, "This page cannot look into a database."));
  else if (problem) body.append(h("p.problem", {}, problem));
  else if (!shown.id) body.append(h("p.quiet", {}, "Nothing was said here yet. Whatever is said will be shown here as it is journalled, answered and receipted."));
  else if (report) put(body, [subjectLine(report), timeline(report), turn(report), report.runs.length ? runs(report, run) : null, receipts(report), cards(report), use(report), journal(report)]);
  replace(
    box,
    h("header", {}, h("h2", {}, "On record"), h("button.follow", { type: "button", "aria-pressed": String(state.chosen === null), data: { key: "follow" }, title: "Show the newest message, and the next when it comes", onclick: () => act.mark(null) }, icon("follow"), "Newest"), iconButton("close", "Close", act.togglePanel, { keys: "Ctrl+.", data: { key: "close" } })),
    body,
  );
  body.scrollTop = scrolled;
  if (focused) box.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

// --- the parts -------------------------------------------------------------------------------------------------------

function subjectLine(report) {
  const message = state.messages.get(shown.id);
  const author = message ? authorOf(message).name : report.message?.author_name ?? "unknown";
  const text = asWritten(report.message?.content ?? message?.content ?? "");
  return h("button.subject", { type: "button", data: { key: "subject" }, title: "Show the message", onclick: () => act.show(shown.id) }, h("span", {}, h("strong", {}, author), " ", text.slice(0, 200) || h("span.quiet", {}, "(no words)")));
}

function fold(key, summary, content, { open: isOpenNow = false } = {}) {
  const made = h("details", { open: opened.has(key) || (isOpenNow && !opened.has(`-${key}`)), data: { fold: key } }, h("summary", { data: { key } }, summary), content);
  made.addEventListener("toggle", () => {
    opened.delete(made.open ? `-${key}` : key);
    opened.add(made.open ? key : `-${key}`);
  });
  return made;
}

const GOOD = new Set(["answered", "applied", "done", "routed", "used"]);
const BAD = new Set(["failed_told", "refused", "failed", "expired"]);
const tone = (text) => (GOOD.has(text) ? "good" : BAD.has(text) ? "bad" : text === "unknown" || text === "cancelled" ? "warn" : "under-way");
const badge = (text) => h("span.state", { class: tone(text) }, text.replaceAll("_", " "));

function timeline(report) {
  const { turn: its, inbox, message } = report;
  const arrival = report.events.find(({ kind }) => kind === "MESSAGE_CREATE");
  const from = Date.parse(its?.triggered_at ?? message?.created_at ?? arrival?.received_at);
  const rows = [];
  const add = (label, at, note) => at && rows.push({ label, at: Date.parse(at), note });
  const isTrigger = !its || its.trigger_id === report.message_id;
  if (isTrigger) {
    add("Said", message?.created_at ?? null, "by Discord's clock");
    add("Journalled", arrival?.received_at ?? null, arrival && `from the ${arrival.source}`);
    add("Addressed to the bot", inbox?.arrived_at ?? null, inbox && `as a ${inbox.reason === "dm" ? "direct message" : inbox.reason}, ${inbox.state}`);
  }
  if (its) {
    if (!isTrigger) add("Asked", its.triggered_at, "");
    add("Turn queued", its.queued_at, "");
    add("Taken up", its.started_at, its.attempts > 1 ? many(its.attempts, "attempt") : "");
    add("Answer composed", its.composed_at, many(its.parts, "part"));
    add(its.ended_at ? its.state.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase()) : "", its.ended_at, its.end_reason && its.end_reason !== its.state ? its.end_reason : "");
    if (!isTrigger) add("This answer journalled", arrival?.received_at ?? null, arrival && `from the ${arrival.source}`);
  }
  if (message?.edited_at) add("Edited", message.edited_at, many(message.revisions.length, "former version"));
  if (message?.deleted_at) add("Deleted", message.deleted_at, "the words stay in the journal until retention removes them");
  rows.sort((left, right) => left.at - right.at);
  if (!rows.length) return h("p.quiet", {}, state.messages.get(shown.id)?.view.private ? "Only one person sees this message, so it is in no journal." : "Not journalled yet.");
  return h("ol.timeline", { "aria-label": "What happened, in order" }, rows.map(({ label, at, note }) => h("li", {}, h("span.what", {}, label, note && h("span.quiet", {}, ` ${note}`)), h("time", { datetime: new Date(at).toISOString(), title: preciseOf(at) }, at === from ? preciseOf(at) : `+${lasting(at - from)}`))));
}

function turn(report) {
  const its = report.turn;
  if (!its) return h("p.quiet", {}, report.inbox ? "It waits for the router." : report.message ? "It addressed nobody, so it was journalled and nothing more." : "");
  return h("section", {}, h("h3", {}, `Turn ${its.turn_id}`, badge(its.state)), its.end_reason && its.end_reason !== "answered" && h("p.quiet", {}, `Reason: ${its.end_reason}`));
}

function runs(report, run) {
  return report.runs.map((each) => runOf(each, run?.run.run_id === each.run_id ? run : null));
}

function runOf(summary, whole) {
  const ended = summary.ended_at ? lasting(Date.parse(summary.ended_at) - Date.parse(summary.started_at)) : "under way";
  const facts = [
    ["Model", summary.model],
    ["Time", ended],
    ["Steps", summary.steps || whole?.steps.length || 0],
    ["Calls", summary.calls || whole?.steps.flatMap(({ calls }) => calls).length || 0],
    ["Tokens in", summary.prompt_tokens.toLocaleString()],
    ["Tokens out", summary.completion_tokens.toLocaleString()],
    ...(summary.cost ? [["Cost", summary.cost]] : []),
    ...(summary.fallback_steps ? [["By the fallback", many(summary.fallback_steps, "step")]] : []),
  ];
  const reason = summary.end_reason && summary.end_reason !== summary.state ? h("span.quiet", {}, ` ${summary.end_reason}`) : null;
  return h("section", {}, h("h3", {}, `Run ${summary.run_id}`, badge(summary.state), reason), h("dl.facts", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value))))), summary.expired_at && h("p.quiet", {}, "The transcript has expired; this is what is left of it."), whole && h("ol.steps", {}, whole.steps.map((step, index) => stepOf(whole, step, index))));
}

function stepOf(run, step, index) {
  const before = index ? run.steps[index - 1].said_at : run.run.started_at;
  const key = `step-${run.run.run_id}-${step.step}`;
  return h(
    "li",
    {},
    h("div.step-head", {}, h("strong", {}, `Step ${step.step + 1}`), h("span.quiet", {}, `${step.fallback ? "fallback · " : ""}${step.took_ms === null ? "+" : ""}${lasting(step.took_ms ?? Date.parse(step.said_at) - Date.parse(before))} · ${step.prompt_tokens.toLocaleString()} → ${step.completion_tokens.toLocaleString()} tokens`)),
    step.said && h("div.said", {}, excerpt(step.said)),
    step.calls.map((call) => callOf(call, `${key}-${call.ordinal}`)),
  );
}

function callOf(call, key) {
  const took = call.settled_at && lasting(call.took_ms ?? Date.parse(call.settled_at) - Date.parse(call.planned_at));
  const summary = [h("span.ordinal", { title: "Ordinal" }, String(call.ordinal)), h("code", {}, call.tool), h("span.quiet", {}, call.effect), badge(call.state), call.from_record && h("span.quiet", {}, "from the record"), call.error_code && h("code.bad", {}, call.error_code), took && h("span.quiet.end", {}, took)];
  return fold(key, summary, [h("h4", {}, "Arguments"), json(call.arguments), call.result && [h("h4", {}, "Result"), json(call.result)]]);
}

function receipts(report) {
  if (!report.receipts.length) return null;
  return h(
    "section",
    {},
    h("h3", {}, "Receipts"),
    report.receipts.map((receipt) => {
      const took = receipt.settled_at && lasting(Date.parse(receipt.settled_at) - Date.parse(receipt.intended_at));
      const summary = [h("code", {}, receipt.action), badge(receipt.state), receipt.failure && h("code.bad", {}, receipt.failure), took && h("span.quiet.end", {}, took)];
      const facts = [
        ["Receipt", receipt.receipt_id],
        ["Intended", preciseOf(receipt.intended_at)],
        ["Settled", receipt.settled_at ? preciseOf(receipt.settled_at) : "not yet"],
        ["Attempts", receipt.attempts],
        ["Discord's id", receipt.external_id ?? "none"],
      ];
      return fold(`receipt-${receipt.receipt_id}`, summary, [h("dl.facts", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value))))), json(receipt.arguments)]);
    }),
  );
}

/** Questions that waited for the requester's press. */
function cards({ cards: its }) {
  if (!its.length) return null;
  return h(
    "section",
    {},
    h("h3", {}, "Asked back"),
    its.map((card) => {
      const facts = [
        ["Asked", preciseOf(card.asked_at)],
        [card.closed_at ? "Closed" : "Open until", preciseOf(card.closed_at ?? card.expires_at)],
        ["Only for", state.people.get(card.requester_id)?.name ?? card.requester_id],
      ];
      return fold(`card-${card.card_id}`, [h("code", {}, card.action), badge(card.state), card.code && h("code", {}, card.code)], [h("p", {}, asWritten(card.question)), h("dl.facts", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))), card.told && h("p.quiet", {}, card.told)]);
    }),
  );
}

/** The command, button or form that the message answers, which has an event and receipts of its own. */
function use({ use: its }) {
  if (!its?.events.length && !its?.receipts.length) return null;
  return h("section", {}, h("h3", {}, "What was used"), its.events.map(eventOf), receipts(its));
}

const eventOf = (event) => fold(`event-${event.event_id}`, [h("code", {}, event.kind), h("span.quiet", {}, event.source), h("span.quiet.end", {}, preciseOf(event.received_at))], [h("p.quiet", {}, `Key ${event.event_key}`), event.payload ? json(event.payload) : h("p.quiet", {}, "The payload was removed by retention.")]);

function journal(report) {
  const words = report.message;
  const parts = [];
  if (words) {
    parts.push(h("p", {}, words.deleted_at ? "The words, kept although the message is deleted:" : "The words as they stand:"), h("div.kept", {}, words.content || h("span.quiet", {}, "(none)")));
    for (const revision of words.revisions) parts.push(h("p.quiet", {}, `Until an edit, since ${preciseOf(revision.version_at)}:`), h("div.kept.former", {}, revision.content || "(none)"));
    if (words.reactions.length) parts.push(h("p", {}, "Reactions: ", words.reactions.map(([emoji, count]) => `${emoji} ${count}`).join(", ")));
  }
  const events = report.events.map(eventOf);
  return h("section", {}, h("h3", {}, "Journal"), parts, events.length ? events : h("p.quiet", {}, "No event yet."));
}

function excerpt({ text, characters }) {
  return [text, text.length < characters && h("span.quiet", {}, ` … ${characters.toLocaleString()} characters in all`)];
}

function json(part) {
  let text = part.text;
  try {
    text = JSON.stringify(JSON.parse(part.text), null, 2);
  } catch {
    // cut, or no JSON at all: shown as it is
  }
  return h("pre", { tabindex: "0" }, text, part.text.length < part.characters && h("span.quiet", {}, `\n… ${part.characters.toLocaleString()} characters in all`));
}
