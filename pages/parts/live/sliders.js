// Streamlit's own sliders stay what a user moves. They write aria-valuetext at every step of a drag, and send nothing
// before they are released: what follows them reads it there.

// Calls `act` at every step of any slider; gives what ends that.
function followSliders(act) {
  const observer = new MutationObserver(act);
  observer.observe(document.body, { subtree: true, attributes: true, attributeFilter: ["aria-valuetext"] });
  return () => observer.disconnect();
}

// The slider that stands elsewhere than in the confirmed setting `at` (name -> text), and the text of its stop; or null.
function movedSlider(at) {
  for (const [name, text] of Object.entries(at)) {
    const now = document.querySelector(`.st-key-w_${name} input[type=range]`)?.getAttribute("aria-valuetext");
    if (now && now !== text) return { name, text: now };
  }
  return null;
}

