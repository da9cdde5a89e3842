// One step on or back from the step that is drawn. What is pressed while another step is on its way is done once that
// is drawn, unless one has gone elsewhere by then.

export class Stepping {
  // `place()` says what the address asks for, `goTo(step)` goes there.
  constructor(place, goTo) {
    Object.assign(this, { place, goTo, near: {}, drawn: "", waitsFor: "", ways: [] });
  }

  // `where`: "earlier" or "later". A key that is held goes as fast as is drawn, and ends where it is let go.
  on(where, isHeld = false) {
    const place = this.place();
    if (place === this.drawn) {
      this.goTo(this.near[where]);
      return;
    }
    if (isHeld) return;
    if (place !== this.waitsFor) this.ways = [];
    this.waitsFor = place;
    this.ways.push(where);
  }

  // The steps around the one that is drawn now, and what the address asked for then.
  show(near, place) {
    this.near = near;
    this.drawn = place;
    const ways = place === this.waitsFor ? this.ways : [];
    this.ways = [];
    for (const where of ways) this.on(where);
  }

  // The address now names what is drawn.
  settle() {
    this.drawn = this.place();
  }
}
