/** The value as a tree: open and closed nodes, what is new in this moment, and the marks of a comparison. */

import { byId, make } from "./dom.js";
import { count, plural, visible } from "./format.js";

const MARKS = { same: "= same object", changed: "~ changed", new: "+ new" };
const ROW = 20; // pixels, as in panels.css
const EMPTY = { object: "{}", array: "[]" };

/** Give each row the path of its value, from the keys of the rows around it. */
function addPaths({ base, rows }) {
  const path = [];
  for (const row of rows) {
    path.length = row.depth;
    if (row.kind !== "more") path[row.depth] = row.key;
    row.path = row.depth || row.kind === "more" ? [...base, ...path.slice(1, row.depth + (row.kind !== "more"))] : base;
  }
}

/** What the tree shows; it asks for other moments, other windows and nodes through callbacks. */
export class Tree {
  constructor({ onSelect, onUnfold }) {
    this.element = byId("tree");
    this.drawn = [];
    this.selected = undefined;
    this.element.addEventListener("click", ({ target }) => {
      const row = this.rows?.[[...this.element.children].indexOf(target.closest(".row"))];
      if (!row) return;
      if (row.kind === "more") onUnfold(row.path, row.from);
      else if (target.closest(".before")) onUnfold(row.path, Math.max(0, row.before - 50));
      else if (target.closest(".fold")) onUnfold(row.path, row.shown ? null : 0);
      else onSelect(row.path);
    });
  }

  /** Draw the rows that differ from those before; return what scrolls to the last change. */
  draw(view) {
    addPaths(view);
    this.rows = view.rows;
    const { element, drawn } = this;
    element.classList.toggle("comparing", Boolean(view.compare));
    view.rows.forEach((row, at) => {
      const isSelected = JSON.stringify(row.path) === this.selected;
      const key = JSON.stringify(row) + isSelected;
      if (drawn[at] === key) return;
      drawn[at] = key;
      const made = drawRow(row, isSelected);
      if (element.children[at]) element.replaceChild(made, element.children[at]);
      else element.append(made);
    });
    while (element.children.length > view.rows.length) element.lastChild.remove();
    drawn.length = view.rows.length;
    const up = view.base.length ? `, ${plural(view.base.length, "level")} further in` : "";
    byId("tree-facts").textContent = view.values ? `${plural(view.values, "value")}${up}` : "nothing yet";
    return () => this.keepInSight(view);
  }

  /** Scroll to what changed last, if it is not visible. */
  keepInSight({ touched, rows }) {
    if (!touched) return;
    const key = JSON.stringify(touched);
    const at = rows.findIndex((row) => row.kind !== "more" && JSON.stringify(row.path) === key);
    if (at < 0) return;
    const { element } = this;
    const top = at * ROW;
    if (top < element.scrollTop + 20 || top > element.scrollTop + element.clientHeight - 40)
      element.scrollTop = top - element.clientHeight * 0.6;
  }
}

function drawRow(row, isSelected) {
  const element = make("div", "row");
  element.style.setProperty("--depth", row.depth);
  if (row.kind === "more") {
    element.classList.add("more");
    element.append(make("span", "fold"), make("span", "body", `… ${count(row.count)} more`));
    return element;
  }
  element.setAttribute("role", "treeitem");
  element.classList.toggle("open", row.open);
  element.classList.toggle("done", row.done);
  element.classList.toggle("selected", isSelected);
  const isContainer = row.count !== undefined;
  const fold = make(isContainer && row.count ? "button" : "span", "fold", isContainer && row.count ? (row.shown ? "▾" : "▸") : "");
  if (fold.tagName === "BUTTON") {
    fold.tabIndex = -1;
    fold.ariaLabel = row.shown ? "Fold" : "Unfold";
  }
  const body = make("span", "body");
  if (row.depth) body.append(make("span", typeof row.key === "number" ? "index" : "key", `${row.key}`), make("span", "colon", ": "));
  body.append(...(isContainer ? describeContainer(row) : describeScalar(row)));
  element.append(fold, body);
  if (row.mark) {
    element.classList.add(row.mark);
    element.append(make("span", "mark", MARKS[row.mark]));
  }
  return element;
}

function describeContainer(row) {
  const parts = [make("span", row.fresh ? "count fresh" : "count", row.count ? sizeOf(row) : EMPTY[row.kind])];
  if (row.open) parts.push(make("i", "caret"));
  if (row.before) parts.push(" ", make("button", "link before", `${count(row.before)} before`));
  return parts;
}

const sizeOf = ({ kind, count: size }) => (kind === "object" ? `{} ${plural(size, "key")}` : `[] ${plural(size, "item")}`);

function describeScalar({ kind, text, fresh, open, cut, length }) {
  const quote = kind === "string" ? '"' : "";
  const split = open || !cut ? Math.max(0, text.length - fresh) : text.length;
  const parts = [
    make("span", kind, quote, cut === "start" ? "… " : "", visible(text.slice(0, split))),
    make("span", `${kind} fresh`, visible(text.slice(split)), cut === "end" ? " …" : "", open ? "" : quote),
  ];
  if (!fresh) parts[1].classList.remove("fresh");
  if (open) parts.push(make("i", "caret"));
  if (length) parts.push(make("span", "count", ` ${count(length)} characters`));
  return parts;
}
