// Keeps what Python sends for others on the page (the document, a slider's stops, what was measured) under its name.
// It is mounted apart from the view because Streamlit sends an element's data again whenever any of it has changed.
export default function ({ data }) {
  const kept = (window.chunkscope ??= {});
  kept[data.name] = data;
  window.dispatchEvent(new CustomEvent("chunkscope"));
}
