/**
 * Goes from moment to moment: one request at a time, of several that are wanted the last one wins.
 * Playing follows the times of the pieces.
 */

const KEPT = 120;

export class Player {
  /** `fetch(target)` asks for a moment; `onView` gets it; `onFail` what went wrong. */
  constructor({ fetch, onView, onFail, onPlaying }) {
    Object.assign(this, { fetch, onView, onFail, onPlaying });
    this.view = undefined;
    this.wanted = undefined;
    this.heading = undefined; // the number of the moment that was asked for last
    this.isBusy = false;
    this.kept = new Map();
    this.frame = 0;
  }

  get isPlaying() {
    return this.frame !== 0;
  }

  /** Forget what was seen: another stream, or other options. */
  forget() {
    this.kept = new Map();
  }

  /** Show a moment, by `{n}` or `{at}`, as soon as the one before is shown. */
  async go(target) {
    this.wanted = target;
    this.heading = target.n;
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      while (this.wanted) {
        const target = this.wanted;
        this.wanted = undefined;
        const { kept } = this;
        const view = kept.get(target.n) ?? (await this.fetch(target));
        if (!view || kept !== this.kept) {
          this.wanted ??= view && target; // something else was chosen meanwhile
          continue;
        }
        this.keep(view);
        this.view = view;
        this.onView(view);
      }
    } catch (error) {
      this.pause();
      this.onFail(error);
    } finally {
      this.isBusy = false;
    }
  }

  keep(view) {
    this.kept.delete(view.n);
    this.kept.set(view.n, view);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
  }

  step(by, last) {
    this.pause();
    const from = (this.isBusy ? this.heading : undefined) ?? this.view?.n ?? 0;
    return this.go({ n: Math.min(last, Math.max(0, from + by)) });
  }

  play({ count, seconds }, speed) {
    let at = this.view && this.view.n < count ? this.view.at : 0;
    let before = performance.now();
    const tick = (now) => {
      at += (speed * (now - before)) / 1000;
      before = now;
      if (at >= seconds) {
        this.pause();
        this.go({ n: count });
        return;
      }
      this.frame = requestAnimationFrame(tick);
      const isNew = at >= this.view.next || at < this.view.at;
      if (isNew && !this.isBusy) this.go({ at: +at.toFixed(4) });
    };
    this.frame = requestAnimationFrame(tick);
    this.onPlaying(true);
  }

  pause() {
    if (!this.isPlaying) return;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.onPlaying(false);
  }
}
