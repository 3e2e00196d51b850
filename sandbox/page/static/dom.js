// Making elements. Text only ever becomes text: there is no way here to put markup into the page.

/** h("a.name#id", {attributes, on…: listeners, data: {…}, vars: {…}}, ...children) */
export function h(what, attributes = {}, ...children) {
  const [, tag, rest] = /^([a-z0-9-]*)(.*)$/.exec(what);
  const element = document.createElement(tag || "div");
  for (const [, kind, name] of rest.matchAll(/([.#])([\w-]+)/g)) {
    if (kind === ".") element.classList.add(name);
    else element.id = name;
  }
  set(element, attributes);
  put(element, children);
  return element;
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.classList.add(...value.split(" ").filter(Boolean));
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "vars") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

export function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** The children of `element` become `wanted`, moving as little as possible, so that focus and selection stay. */
export function arrange(element, wanted) {
  const keep = new Set(wanted);
  for (const child of [...element.childNodes]) if (!keep.has(child)) child.remove();
  wanted.forEach((child, index) => {
    const there = element.childNodes[index];
    if (there !== child) element.insertBefore(child, there ?? null);
  });
}

export function replace(element, ...children) {
  element.replaceChildren();
  put(element, children);
  return element;
}

const NAMESPACE = "http://www.w3.org/2000/svg";

// One stroke each, on a grid of 20.
const PATHS = {
  menu: "M3 5.500h14M3 10h14M3 14.500h14",
  hash: "M7.500 3 6 17M14 3l-1.500 14M3.500 7.500h13.500M3 12.500h13.500",
  lock: "M5.500 9.500h9v7h-9zM7.500 9.500V7a2.500 2.500 0 0 1 5 0v2.500",
  thread: "M4 4.500h12v8H9.500L6 16v-3.500H4z",
  forum: "M3.500 4h13v9H10l-3.500 3v-3h-3zM6.500 7.500h7M6.500 10h4.500",
  voice: "M4 8v4h3l4 3.500v-11L7 8zM13.500 7.500a3.500 3.500 0 0 1 0 5",
  dm: "M10 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4 16.500c.5-3.500 3-5 6-5s5.500 1.500 6 5",
  people: "M7.500 9.500a2.700 2.700 0 1 0 0-5.400 2.700 2.700 0 0 0 0 5.400M2.500 16c.4-3 2.400-4.500 5-4.500s4.600 1.500 5 4.500M13 4.300a2.700 2.700 0 0 1 0 5M14.500 11.700c1.800.5 2.800 2 3 4.300",
  record: "M4 3.500h12v13H4zM7 7.500h6M7 10.500h6M7 13.500h3",
  react: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M7.500 8.300v.2M12.500 8.300v.2M7 11.800c1.600 2.100 4.400 2.100 6 0",
  reply: "M8.500 5 4 9.500 8.500 14M4.500 9.500H12c2.500 0 4 1.500 4 4.500v1",
  edit: "m4 16 .7-3.200L13 4.500l2.500 2.500-8.300 8.300zM11.500 6l2.500 2.500",
  trash: "M4 6h12M8 6V4h4v2M5.500 6l.8 10.500h7.400L14.500 6M8.500 9v4.500M11.500 9v4.500",
  more: "M4 10h.01M4 9.500v1M4.500 10h-1M10 9.500v1M10.500 10h-1M16 9.500v1M16.500 10h-1",
  close: "m5 5 10 10M15 5 5 15",
  attach: "m14.500 9.500-5.200 5.200a3.200 3.200 0 0 1-4.500-4.500l6-6a2.100 2.100 0 0 1 3 3l-5.800 5.800a1 1 0 0 1-1.500-1.500l5-5",
  send: "M3.500 10h12M10.500 5l5 5-5 5",
  jump: "M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11M13 13l4 4",
  sun: "M10 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7M10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.500 4.500l1 1M14.500 14.500l1 1M15.500 4.500l-1 1M5.500 14.500l-1 1",
  help: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M8 8c0-3 4.300-2.800 4.300-.2 0 1.700-2.300 1.900-2.300 3.700M10 14v.1",
  pin: "M8 3.500h4l-.5 5 2.500 2.500H6l2.500-2.500zM10 11v5.500",
  archive: "M3.500 4h13v4h-13zM5 8v8.500h10V8M8.500 11h3",
  plus: "M10 4v12M4 10h12",
  chevron: "m7 5 5 5-5 5",
  check: "m4 10.500 4 4 8-9",
  copy: "M7 7h9v9H7zM4 13V4h9",
  file: "M5 3h7l3.500 3.500V17H5zM12 3v3.500h3.500",
  slash: "M13 3 7 17",
  follow: "M10 3.500v9M6 9l4 4 4-4M4 16.500h12",
};

export function icon(name) {
  const svg = document.createElementNS(NAMESPACE, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(NAMESPACE, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon; `label` is its name, and its tooltip. `keys` is the shortcut that is shown with it. */
export function iconButton(name, label, onclick, more = {}) {
  const { keys, ...rest } = more;
  return h("button.tool", { type: "button", "aria-label": label, title: keys ? `${label} (${keys})` : label, onclick, ...rest }, icon(name));
}

let numbers = 0;
export const unique = (stem) => `${stem}-${++numbers}`;

/** Say something to who hears the page instead of seeing it. */
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

export const isCoarse = () => matchMedia("(pointer: coarse)").matches;
