// Lays a line over a chart where its slider is dragged to. The chart itself is drawn anew when the slider is released.

const levels = new WeakMap();

export default function ({ data, parentElement }) {
  if (!levels.has(parentElement)) levels.set(parentElement, new Level());
  const level = levels.get(parentElement);
  level.state = data;
  level.place();
  return () => {
    level.leave();
    levels.delete(parentElement);
  };
}

class Level {
  constructor() {
    this.layer = drawn("svg", { class: "cs-level", style: "position:absolute;inset:0;width:100%;height:100%;pointer-events:none;z-index:5" });
    this.unfollow = followSliders(() => this.place());
  }

  leave() {
    this.unfollow();
    this.layer.remove();
  }

  place() {
    const { inside, value, heights } = this.state;
    const chart = document.querySelector(`.st-key-${inside} .js-plotly-plot`);
    const now = Number(textOf(document.querySelector(`.st-key-${inside} input[type=range]`)));
    const { xaxis, yaxis } = chart?._fullLayout ?? {}; // names inside plotly: without them there is no line
    if (!yaxis?.l2p || Number.isNaN(now) || Math.abs(now - value) < 1e-9) {
      this.layer.remove();
      return;
    }
    const y = yaxis._offset + Math.min(Math.max(yaxis.l2p(now), 0), yaxis._length);
    const below = heights.filter((height) => height < now).length;
    const line = drawn("path", { d: `M${xaxis._offset} ${y}h${xaxis._length}`, stroke: "#c2313c", "stroke-width": 2 });
    const said = drawn("text", { x: xaxis._offset + 6, y: y - 5, fill: "currentColor", "font-size": 12 });
    said.textContent = `${now.toFixed(2)}: ${below} of ${heights.length} below`;
    this.layer.replaceChildren(line, said);
    chart.querySelector(".svg-container").append(this.layer);
  }
}
