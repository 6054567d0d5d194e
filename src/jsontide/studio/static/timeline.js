/**
 * The time: how many bytes came when, a lane for each path, and the moment that is shown.
 * Everywhere on it a pointer chooses a moment.
 */

import { byId, draw, make } from "./dom.js";
import { count, pathText, seconds } from "./format.js";

const LANE = 16;
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

export class Timeline {
  constructor({ onMove, onRelease }) {
    this.track = byId("track");
    this.axis = "time";
    this.summary = undefined;
    this.lanes = [];
    const move = (event) => {
      const { left, width } = this.track.getBoundingClientRect();
      onMove(this.target(Math.min(1, Math.max(0, (event.clientX - left) / width))));
    };
    this.track.addEventListener("pointerdown", (event) => {
      this.track.setPointerCapture(event.pointerId);
      move(event);
    });
    this.track.addEventListener("pointermove", (event) => event.buttons && move(event));
    this.track.addEventListener("pointerup", onRelease);
    this.isHeld = () => this.track.matches(":active");
  }

  /** Whether there are times, and the reader wants them. */
  get byTime() {
    return this.axis === "time" && this.summary?.timed && this.summary.seconds > 0;
  }

  /** What to ask for at a place from 0 to 1. */
  target(place) {
    if (this.byTime) return { at: place * this.summary.seconds };
    return { n: Math.round(place * this.summary.count) };
  }

  /** Where a moment stands, from 0 to 1. */
  place({ n, at }) {
    const { seconds: duration, count: last } = this.summary;
    return this.byTime ? at / duration : n / (last || 1);
  }

  drawAll(summary, lanes, pulse) {
    this.summary = summary;
    this.drawPulse(pulse);
    this.drawLanes(lanes);
  }

  drawPulse(pulse) {
    const svg = byId("pulse");
    const most = Math.max(1, ...pulse);
    const bars = pulse.map((size, at) => {
      const height = size ? Math.max(1, 14 * Math.sqrt(size / most)) : 0;
      return draw("rect", { x: `${(100 * at) / pulse.length}%`, y: 28 - height, width: `${80 / pulse.length}%`, height });
    });
    svg.replaceChildren(...this.ticks(), ...bars);
  }

  /** Lines at round times or numbers, about every 120 pixels. */
  ticks() {
    const { summary } = this;
    const end = this.byTime ? summary.seconds : summary.count;
    const wanted = (end * 120) / Math.max(this.track.clientWidth, 1);
    const step = this.byTime ? (STEPS.find((each) => each >= wanted) ?? end) : roundUp(wanted);
    const marks = [];
    for (let at = step; end && at < end * 0.97; at += step) {
      const x = `${(100 * at) / end}%`;
      const text = draw("text", { x, dx: 4, y: 9 });
      text.textContent = this.byTime ? `${+at.toFixed(3)} s` : count(at);
      marks.push(draw("line", { x1: x, x2: x, y1: 0, y2: 28 }), text);
    }
    return marks;
  }

  drawLanes(lanes) {
    this.lanes = lanes;
    const svg = byId("lanes");
    const percent = (moment) => 100 * this.place(moment);
    const now = { n: this.summary.count, at: this.summary.seconds };
    svg.setAttribute("height", lanes.length * LANE);
    svg.replaceChildren(
      ...lanes.flatMap(({ opened, first, done, silence }, row) => {
        const top = row * LANE;
        const end = percent(done ?? now);
        const box = (name, from, to, y, height) =>
          draw("rect", { class: name, x: `${from}%`, y: top + y, width: `${Math.max(to - from, 0)}%`, height, rx: 1.5 });
        const parts = [box("wait", percent(opened), end, 7, 2)];
        if (first) parts.push(box("grow", percent(first), end, 4, 8));
        if (silence) parts.push(box("silence", percent(silence.from), percent(silence.to), 4, 8));
        if (first) parts.push(draw("rect", { class: "first", x: `${percent(first)}%`, y: top + 3, width: 1.5, height: 10 }));
        if (done) parts.push(draw("rect", { class: "done", x: `${end}%`, y: top + 3, width: 2, height: 10 }));
        return parts;
      }),
    );
    const labels = byId("lane-labels");
    labels.replaceChildren(...lanes.map((lane) => make("li", "", laneText(lane))));
    lanes.forEach((lane, at) => (labels.children[at].title = describe(lane)));
  }

  /** Move the cursor, and the pin of a comparison; return what scrolls to the lanes that grow. */
  drawCursor(view, pinned) {
    const place = 100 * this.place(view);
    byId("cursor").style.left = `${place}%`;
    byId("future").style.left = `${place}%`;
    const pin = byId("pin");
    pin.hidden = !pinned;
    if (pinned) pin.style.left = `${100 * this.place(pinned)}%`;
    this.track.setAttribute("aria-valuemax", this.summary.count);
    this.track.setAttribute("aria-valuenow", view.n);
    this.track.setAttribute("aria-valuetext", `moment ${view.n} of ${this.summary.count}, ${seconds(view.at)}`);
    const inner = this.markGrowing(view);
    return () => this.keepInSight(inner);
  }

  /** Mark the lanes that grow; return the place of the innermost. */
  markGrowing({ n }) {
    let inner = 0;
    [...byId("lane-labels").children].forEach((label, at) => {
      const { opened, done } = this.lanes[at];
      const isGrowing = opened.n <= n && (!done || done.n > n);
      label.classList.toggle("now", isGrowing);
      if (isGrowing) inner = at;
    });
    return inner;
  }

  keepInSight(inner) {
    const box = byId("scrubber");
    const [top, room] = [inner * LANE, box.clientHeight - 28];
    const isInSight = top >= box.scrollTop && top + 2 * LANE <= box.scrollTop + room;
    if (!isInSight && !this.isHeld()) box.scrollTop = top - room / 2;
  }
}

/** What a lane is: of a run, its steps from outside to inside, and the message or the tool. */
function laneText({ path, name }) {
  if (!name) return pathText(path, 28);
  const steps = [...path.matchAll(/steps\[(\d+)\]/g)].map(([, step]) => Number(step) + 1);
  return `${steps.join(" › ")} ${name}`;
}

function roundUp(number) {
  const power = 10 ** Math.floor(Math.log10(Math.max(number, 1)));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= number);
}

function describe({ path, name, first, done, updates, size, silence }) {
  const facts = [name ? `${name}: ${path}` : path, first ? `first value ${seconds(first.at)}` : "no value yet"];
  facts.push(done ? `complete ${seconds(done.at)}` : "not complete", `${count(updates)} updates`, `${count(size)} characters`);
  if (silence) facts.push(`longest silence ${seconds(silence.to.at - silence.from.at)}`);
  return facts.join("\n");
}
