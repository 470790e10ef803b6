// Tells which point of a chart was clicked. A chart that changes is mounted anew, so what is new is taken hold of as it comes.

const watches = new WeakMap();
const known = new WeakSet();
let pick = () => {};

export default function ({ data, parentElement, setTriggerValue }) {
  pick = (setting) => setting && setTriggerValue("picked", setting);
  if (!watches.has(parentElement)) {
    const watch = new MutationObserver(() => attach(data.inside));
    watch.observe(document.body, { subtree: true, childList: true });
    watches.set(parentElement, watch);
  }
  attach(data.inside);
  return () => {
    watches.get(parentElement)?.disconnect();
    watches.delete(parentElement);
  };
}

function attach(inside) {
  for (const chart of document.querySelectorAll(`.st-key-${inside} .js-plotly-plot`)) {
    if (!chart.on || known.has(chart)) continue;
    known.add(chart);
    chart.on("plotly_click", (event) => pick(event.points[0].customdata));
  }
}
