// Lays the present setting over the chart, and points measured since it was drawn. The figure below is left alone: a
// figure that changes is mounted anew. Where a slider is dragged to a stop that was measured, the diamond goes there.

const cursors = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!cursors.has(parentElement)) cursors.set(parentElement, new Cursor());
  const cursor = cursors.get(parentElement);
  cursor.state = data;
  cursor.pick = (setting) => setTriggerValue("picked", setting);
  cursor.place();
  return () => {
    cursor.leave();
    cursors.delete(parentElement);
  };
}

class Cursor {
  constructor() {
    this.layer = drawn("svg", { class: "cs-cursor", style: "position:absolute;inset:0;width:100%;height:100%;pointer-events:none;overflow:visible;z-index:5" });
    this.unfollow = followSliders(() => this.place());
    this.charts = new MutationObserver(() => this.chart() !== this.under && this.place());
    this.charts.observe(document.querySelector(".st-key-cs_chart"), { subtree: true, childList: true });
  }

  leave() {
    this.unfollow();
    this.charts.disconnect();
    this.layer.remove();
  }

  chart() {
    return document.querySelector(".st-key-cs_chart .js-plotly-plot");
  }

  // Takes hold of the chart, anew where it was drawn anew.
  attach() {
    const chart = this.chart();
    if (!chart?.on || !chart._fullLayout?.xaxis?.l2p) return false; // a name inside plotly: without it there is no cursor
    if (this.under !== chart) {
      this.under = chart;
      chart.on("plotly_afterplot", () => this.place());
      chart.on("plotly_relayouting", () => this.place());
      chart.on("plotly_click", (event) => this.pick(event.points[0].customdata));
    }
    if (!this.layer.isConnected || this.layer.parentElement.closest(".js-plotly-plot") !== chart) {
      chart.querySelector(".svg-container").append(this.layer);
    }
    return true;
  }

  place() {
    if (!this.attach()) return;
    const { xaxis, yaxis } = this.under._fullLayout;
    const x = (words) => xaxis._offset + xaxis.l2p(xaxis.type === "log" ? Math.log10(words) : words);
    const y = (share) => yaxis._offset + yaxis.l2p(share);
    const inside = (point) => point.words > 0 || xaxis.type !== "log";
    const moved = movedSlider(this.state.at);
    const known = moved ? this.state.stops[moved.name]?.[moved.text] : this.state.present;
    const more = this.state.more.filter(inside).map((point) => this.dot(point, x(point.words), y(point.hit)));
    const ring = known ?? this.state.present;
    this.layer.replaceChildren(...more, ...(inside(ring) ? diamond(ring, x(ring.words), y, known ? 1 : 0.35) : []));
    this.layer.dataset.setting = ring.setting;
  }

  dot(point, x, y) {
    const dot = drawn("circle", { cx: x, cy: y, r: 5, fill: point.colour, stroke: "#888", style: "pointer-events:auto;cursor:pointer" });
    const hint = drawn("title", {});
    hint.textContent = `${point.title}: hit rate ${point.hit.toFixed(1)}%, ${Math.round(point.words).toLocaleString("en")} words sent`;
    dot.append(hint);
    dot.addEventListener("click", () => this.pick(point.setting));
    return dot;
  }
}

function diamond(point, x, y, opacity) {
  const [at, top, bottom] = [point.hit, point.high, point.low].map(y);
  const line = { fill: "none", stroke: "#c2313c", opacity };
  return [
    drawn("path", { d: `M${x - 5} ${top}h10M${x - 5} ${bottom}h10M${x} ${top}V${at - 10}M${x} ${at + 10}V${bottom}`, ...line, "stroke-width": 1.2 }),
    drawn("path", { d: `M${x} ${at - 10}l10 10l-10 10l-10 -10z`, ...line, "stroke-width": 2.5 }),
  ];
}
