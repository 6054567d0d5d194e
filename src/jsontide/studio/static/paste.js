/** The dialog in which text is pasted and cut: by clicks between characters, at random, or everywhere. */

import { byId, make } from "./dom.js";
import { plural } from "./format.js";

/** Places between whole characters, from a place on: no cut inside a pair of surrogates. */
const isInside = (text, at) => /[\ud800-\udbff]/.test(text[at - 1] ?? "") && /[\udc00-\udfff]/.test(text[at] ?? "");

export class PasteDialog {
  constructor({ onRun }) {
    this.dialog = byId("paste-dialog");
    this.input = byId("paste-text");
    this.shown = byId("paste-cuts");
    this.cuts = new Set();
    this.shown.addEventListener("click", (event) => this.toggle(event));
    byId("cut-by-hand").addEventListener("click", () => (this.shown.hidden ? this.cutAt([]) : this.edit()));
    byId("cut-randomly").addEventListener("click", () => this.cutAt(randomCuts(this.input.value)));
    byId("cut-characters").addEventListener("click", () => this.cutAt(this.input.value.split("").keys()));
    byId("paste-run").addEventListener("click", () => {
      if (!this.input.value) return this.input.focus();
      this.dialog.close();
      onRun(this.pieces(), byId("paste-mend").checked);
    });
  }

  open() {
    this.edit();
    this.dialog.showModal();
    this.input.focus();
  }

  edit() {
    this.shown.hidden = true;
    this.input.hidden = false;
    byId("cut-by-hand").textContent = "Cut by hand";
    byId("paste-hint").textContent = "Then click between characters to cut there, or cut it at random.";
  }

  cutAt(places) {
    const text = this.input.value;
    if (!text) return this.input.focus();
    this.cuts = new Set([...places].filter((at) => at > 0 && at < text.length && !isInside(text, at)));
    this.input.hidden = true;
    this.shown.hidden = false;
    byId("cut-by-hand").textContent = "Edit text";
    this.draw();
  }

  pieces() {
    const text = this.input.value;
    const places = this.shown.hidden ? [] : [...this.cuts].sort((one, other) => one - other);
    return [0, ...places].map((from, at) => text.slice(from, places[at]));
  }

  draw() {
    const parts = this.pieces().flatMap((piece) => [make("i"), document.createTextNode(piece)]);
    this.shown.replaceChildren(...parts.slice(1));
    byId("paste-hint").textContent = `${plural(this.cuts.size + 1, "piece")}: click between two characters to cut there, or on a cut to take it away.`;
  }

  /** Cut where the reader clicked, or take away the cut that is there. */
  toggle({ clientX, clientY }) {
    const at = this.offsetAt(clientX, clientY);
    if (at === undefined || at <= 0 || at >= this.input.value.length || isInside(this.input.value, at)) return;
    if (!this.cuts.delete(at)) this.cuts.add(at);
    const { scrollTop } = this.shown;
    this.draw();
    this.shown.scrollTop = scrollTop;
  }

  /** The place in the text under a point. */
  offsetAt(x, y) {
    const found = document.caretPositionFromPoint?.(x, y);
    const range = found ? undefined : document.caretRangeFromPoint?.(x, y);
    const [node, inside] = found ? [found.offsetNode, found.offset] : [range?.startContainer, range?.startOffset];
    if (!node || !this.shown.contains(node)) return undefined;
    let before = 0;
    for (const child of this.shown.childNodes) {
      if (child === node) return before + (node.nodeType === Node.TEXT_NODE ? inside : 0);
      before += child.nodeType === Node.TEXT_NODE ? child.length : 0;
    }
    return undefined;
  }
}

/** Cuts about every four characters, as tokens have. */
function randomCuts(text) {
  const cuts = [];
  for (let at = 0; at < text.length; at += 1 + Math.floor(Math.random() * 7)) cuts.push(at);
  return cuts;
}
