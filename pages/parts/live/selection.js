// Tells Python which words of a shown chunk were selected, when the selection is done. Nothing is drawn.

export default function ({ setTriggerValue }) {
  const tell = () => {
    const selected = selectedWords();
    if (selected) setTriggerValue("selected", selected);
  };
  const ends = ["mouseup", "touchend", "keyup"];
  ends.forEach((name) => document.addEventListener(name, tell));
  return () => ends.forEach((name) => document.removeEventListener(name, tell));
}

let told = ""; // keys that are let go elsewhere do not tell the same selection again

function selectedWords() {
  const selection = document.getSelection();
  const text = selection?.toString().trim() ?? "";
  const [from, to] = [selection?.anchorNode, selection?.focusNode].map((node) => node?.parentElement?.closest("[data-document]"));
  if (!text || !from || from !== to || text === told) return null;
  told = text;
  return { document: from.dataset.document, text };
}
