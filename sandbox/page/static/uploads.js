// A file goes to the page's server first; what is sent then names it.

export const MOST_BYTES = 10 * 1024 * 1024;

/** Resolves to the name by which a request carries the file. Throws what the person is told. */
export async function upload(file) {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is larger than 10 MB.`);
  const headers = { "Content-Type": file.type || "application/octet-stream", "X-File-Name": encodeURIComponent(file.name) };
  if (file.type.startsWith("image/")) {
    const size = await createImageBitmap(file).catch(() => null);
    if (size) Object.assign(headers, { "X-Image-Width": String(size.width), "X-Image-Height": String(size.height) });
  }
  const answer = await fetch("/uploads", { method: "POST", headers, body: file });
  if (!answer.ok) throw new Error(`${file.name} could not be attached.`);
  return (await answer.json()).id;
}
