// Light, dark, or as the system has it.

const ORDER = ["system", "light", "dark"];

export function setUp() {
  apply(localStorage.getItem("theme") ?? "system");
}

export function next() {
  const now = document.documentElement.dataset.theme;
  // From the system's choice to the other one, so that the first press is seen.
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const order = dark ? ["system", "light", "dark"] : ["system", "dark", "light"];
  apply(order[(order.indexOf(now) + 1) % ORDER.length]);
}

function apply(theme) {
  document.documentElement.dataset.theme = ORDER.includes(theme) ? theme : "system";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
}
