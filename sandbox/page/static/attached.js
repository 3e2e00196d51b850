// What a message carries beside its words: files and embeds. Nothing is loaded from elsewhere, so a picture that an
// embed only points at is shown as a link.

import { h, icon } from "./dom.js";
import { link, markdown } from "./markdown.js";
import { exactOf, sizeOf } from "./state.js";

const DRAWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const WIDEST = 420;
const HIGHEST = 300;

const isPicture = (file) => DRAWN.has((file.content_type ?? "").split(";")[0].trim().toLowerCase());

export function attachments(message) {
  const used = new Set(message.embeds.flatMap((embed) => [embed.image?.url, embed.thumbnail?.url]).filter((url) => url?.startsWith("attachment://")).map((url) => url.slice(13)));
  return message.attachments.filter((file) => !used.has(file.filename)).map((file) => (isPicture(file) ? picture(file) : document_(file)));
}

/** Its place is kept before it is there, so that nothing moves when it comes. */
export function picture(file) {
  const scale = Math.min(1, WIDEST / (file.width || WIDEST), HIGHEST / (file.height || HIGHEST));
  const known = file.width && file.height;
  const image = h("img", { src: file.url, alt: file.description ?? file.filename, loading: "lazy", width: known ? Math.round(file.width * scale) : undefined, height: known ? Math.round(file.height * scale) : undefined, class: known ? undefined : "unsized" });
  return h("a.picture", { href: file.url, target: "_blank", rel: "noopener", title: file.filename }, image);
}

function document_(file) {
  return h("a.file", { href: file.url, download: file.filename }, icon("file"), h("span.file-name", {}, file.filename), h("span.quiet", {}, sizeOf(file.size)));
}

export function embeds(message, names) {
  if (message.flags & 4) return null;
  return message.embeds.map((embed) => one(embed, message, names));
}

function one(embed, message, names) {
  const box = h("div.embed", { vars: embed.color === undefined || embed.color === null ? {} : { "--bar": `#${embed.color.toString(16).padStart(6, "0")}` } });
  const words = (text) => markdown(text, names);
  if (embed.provider?.name) box.append(h("div.embed-small", {}, embed.provider.name));
  if (embed.author?.name) box.append(h("div.embed-author", {}, safe(embed.author.url) ? link(embed.author.url, embed.author.name) : embed.author.name));
  if (embed.title) box.append(h("div.embed-title", {}, safe(embed.url) ? link(embed.url, words(embed.title)) : words(embed.title)));
  if (embed.description) box.append(h("div.words", {}, words(embed.description)));
  if (embed.fields?.length) {
    box.append(h("div.embed-fields", {}, embed.fields.map((field) => h("div.embed-field", { class: field.inline ? "inline" : undefined }, h("div.embed-name", {}, words(field.name)), h("div.words", {}, words(field.value))))));
  }
  for (const kind of ["image", "thumbnail"]) {
    const shown = embed[kind]?.url && drawn(embed[kind], message);
    if (shown) box.append(shown);
  }
  const foot = [embed.footer?.text, embed.timestamp && exactOf(Date.parse(embed.timestamp))].filter(Boolean).join(" · ");
  if (foot) box.append(h("div.embed-small", {}, foot));
  return box;
}

export function drawn(media, message) {
  if (media.url.startsWith("attachment://")) {
    const file = message.attachments.find(({ filename }) => filename === media.url.slice(13));
    return file ? picture({ ...file, description: media.description ?? file.description }) : null;
  }
  return safe(media.url) ? h("div.elsewhere", {}, "Picture elsewhere, not loaded: ", link(media.url)) : null;
}

export const safe = (address) => typeof address === "string" && /^https?:\/\//.test(address);
