// Streamlit's own sliders stay what a user moves. They write aria-valuetext at every step of a drag, and send nothing
// before they are released: what follows them reads it there. But they write it only once React has drawn them, a frame
// or two after the pointer moved. So a drag's stop is foreseen, from how far the pointer has come along the track.

let finger = null; // what the pointer holds: a slider's input, where it took hold, the stop that is foreseen

// Calls `act` at every step of any slider; gives what ends that.
function followSliders(act) {
  let checking;
  const leaving = new AbortController();
  const on = (name, hear) => window.addEventListener(name, hear, { capture: true, passive: true, signal: leaving.signal });
  on("pointerdown", (event) => { finger = takeHold(event); });
  on("pointermove", (event) => {
    if (!foresee(event)) return;
    act();
    clearTimeout(checking);
    checking = setTimeout(() => {
      if (!finger || finger.text === textOf(finger.input)) return;
      finger = null; // what was foreseen did not come
      act();
    }, 300);
  });
  on("pointerup", () => { finger = null; });
  on("pointercancel", () => { finger = null; });
  const observer = new MutationObserver(() => {
    if (finger?.share !== undefined && !finger.foreseen.has(textOf(finger.input))) finger = null; // it goes another way than was foreseen
    act();
  });
  observer.observe(document.body, { subtree: true, attributes: true, attributeFilter: ["aria-valuetext"] });
  return () => {
    leaving.abort();
    clearTimeout(checking);
    observer.disconnect();
  };
}

function takeHold(event) {
  const slider = event.target.closest?.("[class*='st-key-w_']");
  const input = slider?.querySelector("input[type=range]");
  const track = input && slider.querySelector("[data-testid=stSliderThumbValue]")?.parentElement.offsetParent;
  if (!track) return null;
  const name = [...slider.classList].find((one) => one.startsWith("st-key-w_")).slice("st-key-w_".length);
  return { input, track, x: event.clientX, order: window.chunkscope?.[`table ${name}`]?.order ?? [], foreseen: new Set() };
}

// Whether the pointer has brought the slider it holds to another stop.
function foresee(event) {
  if (!finger) return false;
  const { input, order, track, x } = finger;
  const last = Number(input.max);
  if (finger.share === undefined) {
    // Pressing the track has moved the thumb there already. A table of other stops foresees nothing.
    if (order.length !== last + 1 || order[Number(input.value)] !== textOf(input)) finger = null;
    else finger.share = Number(input.value) / last;
    if (!finger) return false;
    finger.foreseen.add(textOf(input));
  }
  const share = finger.share + (event.clientX - x) / track.getBoundingClientRect().width;
  const text = order[Math.round(Math.min(Math.max(share, 0), 1) * last)];
  if (text === finger.text) return false;
  finger.text = text;
  finger.foreseen.add(text);
  return true;
}

// The slider that stands elsewhere than in the confirmed setting `at` (name -> text), and the text of its stop; or null.
function movedSlider(at) {
  for (const [name, text] of Object.entries(at)) {
    const input = document.querySelector(`.st-key-w_${name} input[type=range]`);
    const now = finger?.input === input && finger?.text ? finger.text : textOf(input);
    if (now && now !== text) return { name, text: now };
  }
  return null;
}

function textOf(input) {
  return input?.getAttribute("aria-valuetext");
}
