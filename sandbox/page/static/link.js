// The socket to the page's server: frames come in, requests go out and are answered, and what breaks is mended.

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4000;

export class Link {
  #socket = null;
  #number = 0;
  #waiting = new Map();
  #pause = FIRST_PAUSE_MS;

  /** `onframe(frame)` for each frame; `onup()` each time the line is up, `ondown(tries)` each time it is not. */
  constructor({ onframe, onup, ondown }) {
    Object.assign(this, { onframe, onup, ondown });
    this.tries = 0;
    this.#connect();
  }

  #connect() {
    const socket = new WebSocket(`ws://${location.host}/feed`);
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(data)));
    socket.addEventListener("close", () => this.#lost());
  }

  #take(frame) {
    if (frame.op === "hello") {
      this.#pause = FIRST_PAUSE_MS;
      this.tries = 0;
      this.onframe(frame);
      this.onup();
    } else if (frame.op === "done") {
      const waiting = this.#waiting.get(frame.n);
      this.#waiting.delete(frame.n);
      if (!waiting) return;
      if (frame.error === undefined) waiting.resolve(frame.result);
      else waiting.reject(new Refused(frame.error));
    } else {
      this.onframe(frame);
    }
  }

  #lost() {
    for (const { reject } of this.#waiting.values()) reject(new Refused("The connection to the sandbox was lost; try again."));
    this.#waiting.clear();
    this.tries += 1;
    this.ondown(this.tries);
    setTimeout(() => this.#connect(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }

  /** Ask for something; resolves to what came of it, rejects with Refused, whose message is for the person. */
  ask(what, parameters = {}) {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(new Refused("There is no connection to the sandbox right now."));
    const n = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(n, { resolve, reject });
      this.#socket.send(JSON.stringify({ ...parameters, n, do: what }));
    });
  }
}

export class Refused extends Error {}
