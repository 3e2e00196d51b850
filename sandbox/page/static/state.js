// What the page knows, and the words in which it speaks of it.

export const state = {
  hello: null,
  directory: null,
  people: new Map(),
  former: new Map(), // who is not here (any more), by name
  roles: new Map(),
  places: new Map(),
  place: null, // id of the place that is shown
  messages: new Map(), // its messages by id
  commands: { slash: [], user: [], message: [] }, // what may be used here
  more: false,
  typing: [],
  unreadAfter: null, // what was read when the place was entered
  reply: null, // {id, ping}
  editing: null,
  chosen: null, // the message that the panel shows; null follows the newest
  drafts: new Map(),
};

export const Kind = { TEXT: 0, DM: 1, VOICE: 2, CATEGORY: 4, NEWS: 5, NEWS_THREAD: 10, THREAD: 11, PRIVATE_THREAD: 12, FORUM: 15 };
export const isThread = (place) => place.type >= 10 && place.type <= 12;

export function takeDirectory(frame) {
  const before = state.directory;
  state.directory = frame;
  state.people = new Map(frame.people.map((person) => [person.id, person]));
  state.former = new Map(frame.former.map((person) => [person.id, person]));
  state.roles = new Map(frame.roles.map((role) => [role.id, role]));
  state.places = new Map(frame.places.map((place) => [place.id, place]));
  const names = ({ me, people, roles, places }) => JSON.stringify([me, people, roles, places.map(({ id, name }) => [id, name])]);
  return before === null || names(before) !== names(frame);
}

export const here = () => state.places.get(state.place);
export const me = () => state.people.get(state.directory.me);
export const bot = () => state.people.get(state.hello.bot_id) ?? { id: state.hello.bot_id, name: state.hello.bot, bot: true };

/** Ids are numbers of up to 64 bits, written as text. */
export function byId(left, right) {
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}

export function nameOf(id, fallback = "somebody") {
  return state.people.get(id)?.name ?? fallback;
}

/** An answer to a command names the application as its webhook, and is the bot's own all the same. */
export const isWebhook = (message) => Boolean(message.webhook_id) && !message.application_id;

export function authorOf(message) {
  const known = isWebhook(message) ? undefined : state.people.get(message.author.id);
  return known ?? { id: message.author.id, name: message.author.global_name ?? message.author.username, bot: Boolean(message.author.bot), color: 0 };
}

export function titleOf(place) {
  if (place.type === Kind.DM) return place.name;
  return isThread(place) ? place.name : `#${place.name}`;
}

export const iconOf = (place) => {
  if (place.type === Kind.DM) return "dm";
  if (isThread(place)) return "thread";
  if (place.type === Kind.FORUM) return "forum";
  if (place.type === Kind.VOICE) return "voice";
  return place.private ? "lock" : "hash";
};

/** The places in the order of the sidebar: channels without a category, then each category's, threads under theirs. */
export function ordered() {
  const all = state.directory.places;
  const children = (parent, ok) => all.filter((place) => place.parent === parent && ok(place));
  const isRoom = (place) => !isThread(place) && place.type !== Kind.CATEGORY && place.type !== Kind.DM;
  const byPosition = (left, right) => left.position - right.position || byId(left.id, right.id);
  const isOpen = (place) => isThread(place) && (!place.archived || place.id === state.place);
  const withThreads = (room) => [room, ...children(room.id, isOpen).sort((left, right) => byId(left.id, right.id))];
  const loose = all.filter((place) => isRoom(place) && !all.some((other) => other.id === place.parent)).sort(byPosition);
  const groups = [{ name: null, places: loose.flatMap(withThreads) }];
  for (const category of all.filter((place) => place.type === Kind.CATEGORY).sort(byPosition)) {
    groups.push({ name: category.name, places: children(category.id, isRoom).sort(byPosition).flatMap(withThreads) });
  }
  groups.push({ name: "Direct message", places: all.filter((place) => place.type === Kind.DM) });
  return groups.filter((group) => group.places.length);
}

// --- times and sizes ------------------------------------------------------------------------------------------------

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const precise = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false });

export const clockOf = (at) => clock.format(at);
export const exactOf = (at) => exact.format(at);
export const dayOf = (at) => day.format(at);
export const shortOf = (at) => (new Date(at).toDateString() === new Date().toDateString() ? clock.format(at) : short.format(at));
export const preciseOf = (at) => precise.format(new Date(at));

export function lasting(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

export function sizeOf(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} kB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

export const many = (count, one, more = `${one}s`) => `${count.toLocaleString()} ${count === 1 ? one : more}`;

// --- mentions as they are written, and as Discord writes them --------------------------------------------------------

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `@Name`, `@Role`, `#place` and `:emoji:` become what Discord's own client makes of them; code stays as it is. */
export function asSent(text) {
  const names = new Map();
  for (const emoji of state.directory.emojis) names.set(`:${emoji.name}:`.toLowerCase(), `<:${emoji.name}:${emoji.id}>`);
  for (const place of state.directory.places) if (place.type !== Kind.DM && place.type !== Kind.CATEGORY) names.set(`#${place.name}`.toLowerCase(), `<#${place.id}>`);
  for (const role of state.directory.roles) if (!role.everyone && !role.managed) names.set(`@${role.name}`.toLowerCase(), `<@&${role.id}>`);
  for (const person of state.directory.people) {
    names.set(`@${person.handle}`.toLowerCase(), `<@${person.id}>`);
    names.set(`@${person.name}`.toLowerCase(), `<@${person.id}>`);
  }
  const longest = [...names.keys()].sort((left, right) => right.length - left.length);
  const find = new RegExp(`(\`\`\`[\\s\\S]*?(?:\`\`\`|$)|\`[^\`\\n]*\`)|(?<![\\w@#<])(${longest.map(escaped).join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  return text.replace(find, (whole, code, name) => (code ? whole : names.get(name.toLowerCase())));
}

/** The other way round, to edit what was sent. */
export function asWritten(text) {
  return text.replace(/<@!?(\d+)>|<@&(\d+)>|<#(\d+)>|<a?(:\w+:)\d+>/g, (whole, person, role, place, emoji) => {
    if (emoji) return emoji;
    if (person) return state.people.has(person) ? `@${nameOf(person)}` : whole;
    if (role) return state.roles.has(role) ? `@${state.roles.get(role).name}` : whole;
    return state.places.has(place) ? `#${state.places.get(place).name}` : whole;
  });
}
