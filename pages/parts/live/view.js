// Draws a document with its cuts. Nothing is cut here: all offsets come from Python, in UTF-16 code units, for the
// confirmed setting in the component's own data and for the stops of each slider in tables that the store keeps.
// Text of the document is only ever set as text, never as markup.

const views = new WeakMap();

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".cs-view");
  if (!views.has(root)) views.set(root, new View(root));
  const view = views.get(root);
  view.state = data;
  view.sync();
  return () => {
    view.leave();
    views.delete(root);
  };
}

class View {
  constructor(root) {
    this.root = root;
    this.pane = root.querySelector(".cs-doc");
    this.map = root.querySelector(".cs-map");
    this.tip = root.querySelector(".cs-tip");
    this.line = root.querySelector(".cs-line");
    this.number = root.querySelector(".cs-number");
    this.blocks = [];
    this.current = null; // the chunk that keys or a jump went to
    this.wentTo = null; // where the passage begins that a jump went to
    this.leaving = new AbortController();
    this.listen();
  }

  listen() {
    const on = (target, names, act) =>
      names.split(" ").forEach((name) => target.addEventListener(name, act, { signal: this.leaving.signal }));
    on(window, "chunkscope", () => this.sync());
    on(this.pane, "scroll", () => this.drawMapSoon());
    on(this.pane, "keydown", (event) => this.onKey(event));
    on(this.pane, "pointerover", (event) => this.tell(event.target.closest("mark")?.chunks));
    on(this.pane, "pointerleave", () => this.tell(this.current === null ? [] : [this.current]));
    // Who scrolls by hand goes on from what is in view, not from the passage gone to before.
    on(this.pane, "wheel touchmove pointerdown", () => { this.wentTo = null; });
    on(this.pane, "copy", (event) => this.onCopy(event));
    on(this.map, "pointerdown", (event) => this.goTo(this.length * (event.offsetY / this.map.clientHeight)));
    on(this.number, "change", () => this.goToChunk(Number(this.number.value) - 1));
    for (const button of this.root.querySelectorAll("[data-go]")) {
      on(button, "click", () => this.goToPassage(button.dataset.go));
    }
    this.unfollow = followSliders(() => this.sync());
    this.size = new ResizeObserver(() => this.drawMapSoon());
    this.size.observe(this.pane);
  }

  leave() {
    this.leaving.abort();
    this.fillLater([]);
    this.unfollow();
    this.size.disconnect();
  }

  // Brings what is on the screen up to what is known: the confirmed cut, or that of the stop a slider is dragged to.
  sync() {
    const kept = window.chunkscope ?? {};
    if (kept.document?.id !== this.state.document) return; // its text is still on the way
    this.layOut(kept.document);
    const moved = movedSlider(this.state.at);
    const cut = moved ? this.stop(kept, moved) : this.state.cut;
    this.setOutdated(Boolean(moved));
    if (!cut) return; // nothing is known of this stop: what is shown stays until the server has cut
    const measured = !moved && kept.measured?.rev === this.state.rev ? kept.measured : null;
    this.draw(cut, measured, Boolean(moved));
    if (!moved && (measured || !this.state.waits)) this.root.dataset.rev = this.state.rev;
  }

  stop(kept, moved) {
    const table = kept[`table ${moved.name}`];
    return table?.base === this.state.tables[moved.name] ? table.stops[moved.text] : undefined;
  }

  // The measured figures beside the text belong to the confirmed setting, not to the stop under the finger.
  setOutdated(outdated) {
    this.root.toggleAttribute("data-moving", outdated);
    document.querySelector(".st-key-cs_figures")?.toggleAttribute("data-outdated", outdated);
  }

  // One element a block, made once for a document; draw() fills them.
  layOut(shown) {
    if (this.document === shown.id) return;
    this.document = shown.id;
    this.passages = shown.passages;
    this.current = this.wentTo = null;
    let place = 0;
    this.blocks = shown.blocks.map(([kind, text]) => {
      const element = document.createElement("div");
      element.className = `cs-block cs-${kind.replace(" ", "-")}`;
      const block = { element, text, start: place, end: place + text.length, drawn: null };
      place = block.end;
      return block;
    });
    this.length = place;
    this.pane.replaceChildren(...this.blocks.map((block) => block.element));
    this.pane.scrollTop = 0;
  }

  draw(cut, measured, hurried) {
    if (this.cut === cut && this.measured === measured && this.drawnFor === this.state.rev) return;
    Object.assign(this, { cut, measured, drawnFor: this.state.rev });
    this.line.textContent = cut.figures;
    this.number.max = cut.starts.length;
    const work = this.shared(this.runs());
    const inView = hurried ? this.inView() : () => true;
    for (const [block, runs] of work) if (inView(block)) fill(block, runs);
    this.fillLater(work.filter(([block]) => !inView(block)));
    this.markCurrent();
    this.drawMapSoon();
  }

  // Each block with the runs that lie in it, at least in part.
  shared(runs) {
    let first = 0;
    return this.blocks.map((block) => {
      while (first < runs.length && runs[first].end <= block.start) first++;
      let after = first;
      while (after < runs.length && runs[after].start < block.end) after++;
      return [block, runs.slice(first, after)];
    });
  }

  inView() {
    const top = this.placeAt(this.pane.scrollTop);
    const bottom = this.placeAt(this.pane.scrollTop + this.pane.clientHeight);
    return (block) => block.end >= top && block.start <= bottom;
  }

  // What is out of view waits for the frame to be painted. Nothing in view moves by it, since marks take no room.
  fillLater(work) {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.waiting);
    if (!work.length) return;
    this.frame = requestAnimationFrame(() => {
      this.waiting = setTimeout(() => {
        for (const [block, runs] of work) fill(block, runs);
        this.markCurrent();
      });
    });
  }

  // The text in runs under the same chunks and passages, in order: where it is cut, shared, unread, an answer.
  runs() {
    const { starts, ends, parents } = this.cut;
    const passages = this.state.marked.map((number) => [...this.passages[number], !this.cut.held[number]]);
    const read = this.measured?.read ?? ends;
    const edges = new Set([0, this.length, ...starts, ...ends, ...read, ...passages.flatMap(([a, b]) => [a, b]), ...parents]);
    const places = Uint32Array.from(edges).sort();
    const widest = starts.reduce((most, start, row) => Math.max(most, ends[row] - start), 0);
    const parentAt = new Map(parents.map((start, number) => [start, number + 1]));
    const runs = [];
    let first = 0;
    let after = 0;
    for (let at = 0; at + 1 < places.length; at++) {
      const start = places[at];
      while (first < starts.length && starts[first] + widest <= start) first++;
      while (after < starts.length && starts[after] <= start) after++;
      const chunks = [];
      for (let row = first; row < after; row++) if (ends[row] > start) chunks.push(row);
      const answers = passages.filter(([a, b]) => a <= start && start < b);
      runs.push({ start, end: places[at + 1], chunks, ...this.look(start, chunks, answers, read, parentAt) });
    }
    return runs;
  }

  look(start, chunks, answers, read, parentAt) {
    const { starts } = this.cut;
    const opening = chunks.filter((row) => starts[row] === start);
    const classes = [];
    if (chunks.length) classes.push(`cs-c${chunks.at(-1) % 2}`);
    if (chunks.length > 1) classes.push("cs-shared");
    if (chunks.length && chunks.every((row) => read[row] <= start)) classes.push("cs-unread");
    if (answers.length) classes.push("cs-answer");
    if (answers.length && answers.every(([, , split]) => split)) classes.push("cs-split");
    const labels = opening.map((row) => this.label(row));
    if (parentAt.has(start)) {
      labels.unshift(`P${parentAt.get(start)}`);
      classes.push("cs-parent");
    }
    if (opening.length && answers.some(([a, , split]) => split && a < start)) {
      labels.push("cut");
      classes.push("cs-through");
    }
    if (labels.length) classes.push("cs-bar");
    return { classes: classes.join(" "), label: labels.join(" ") };
  }

  label(row) {
    const rank = this.measured?.ranks[row];
    return rank ? `${row + 1} #${rank}` : `${row + 1}`;
  }

  // What there is to say about chunks: number, words, tokens, how far read, what it shares.
  tell(chunks) {
    this.tip.textContent = (chunks ?? []).map((row) => this.sentence(row)).join("; ");
  }

  sentence(row) {
    const { starts, ends, words, tokens } = this.cut;
    const said = [`Chunk ${row + 1}: ${counted(words[row], "word")}`];
    if (tokens) said.push(counted(tokens[row], "token"));
    if (this.measured) said.push(this.measured.read[row] < ends[row] ? "truncated: not read to its end" : "read to its end");
    const beside = starts.flatMap((start, other) =>
      other !== row && start < ends[row] && ends[other] > starts[row] ? [other + 1] : []);
    if (beside.length) said.push(`shares words with ${beside.slice(0, 3).join(", ")}${beside.length > 3 ? " and more" : ""}`);
    const rank = this.measured?.ranks[row];
    if (rank) said.push(`rank ${rank}`);
    return said.join(" · ");
  }

  onKey(event) {
    const step = { "]": 1, ArrowRight: 1, "[": -1, ArrowLeft: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const from = this.current ?? this.chunkInView() - step;
    this.goToChunk(from + step);
  }

  chunkInView() {
    const place = this.placeAt(this.pane.scrollTop);
    return Math.max(0, this.cut.starts.findIndex((start) => start >= place));
  }

  goToChunk(row) {
    const last = this.cut.starts.length - 1;
    if (last < 0 || Number.isNaN(row)) return;
    this.current = Math.min(Math.max(row, 0), last);
    this.number.value = this.current + 1;
    this.goTo(this.cut.starts[this.current]);
    this.markCurrent();
    this.tell([this.current]);
  }

  goToPassage(way) {
    const from = this.wentTo ?? this.placeAt(this.pane.scrollTop) - 1;
    const starts = this.state.marked
      .filter((number) => way !== "cut" || !this.cut.held[number])
      .map((number) => this.passages[number][0]);
    if (!starts.length) {
      this.tip.textContent = way === "cut" ? "No passage of this document is cut." : "No passage is marked in this document.";
      return;
    }
    const next = way === "back" ? starts.findLast((start) => start < from) ?? starts.at(-1)
      : starts.find((start) => start > from) ?? starts[0];
    this.goTo(next);
    this.wentTo = next;
    this.tip.textContent = `Passage ${starts.indexOf(next) + 1} of ${starts.length}`;
  }

  // Twice, because blocks out of view have a guessed height until they come into view.
  goTo(place) {
    for (let time = 0; time < 2; time++) {
      const target = this.elementAt(place);
      const above = target.getBoundingClientRect().top - this.pane.getBoundingClientRect().top;
      this.pane.scrollTop += above - this.pane.clientHeight / 3;
    }
    this.wentTo = null;
  }

  elementAt(place) {
    const block = this.blocks.findLast((one) => one.start <= place) ?? this.blocks[0];
    let start = block.start;
    for (const node of block.element.childNodes) {
      start += node.textContent.length;
      if (start > place) return node.nodeType === Node.ELEMENT_NODE ? node : block.element;
    }
    return block.element;
  }

  // The place in the text at a height of the pane, by the block there and how far into it the height lies.
  placeAt(height) {
    const blocks = this.blocks;
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (blocks[middle].element.offsetTop <= height) low = middle;
      else high = middle - 1;
    }
    const block = blocks[low];
    const share = (height - block.element.offsetTop) / Math.max(1, block.element.offsetHeight);
    return block.start + Math.min(Math.max(share, 0), 1) * (block.end - block.start);
  }

  markCurrent() {
    for (const mark of this.pane.querySelectorAll(".cs-current")) mark.classList.remove("cs-current");
    if (this.current === null) return;
    for (const mark of this.pane.querySelectorAll("mark")) {
      if (mark.chunks.includes(this.current)) mark.classList.add("cs-current");
    }
  }

  // What is copied is the document's own text: blocks would add line ends of their own.
  onCopy(event) {
    const selection = window.getSelection();
    if (!selection.rangeCount) return;
    event.clipboardData.setData("text/plain", selection.getRangeAt(0).cloneContents().textContent);
    event.preventDefault();
  }

  drawMapSoon() {
    this.mapFrame ??= requestAnimationFrame(() => {
      this.mapFrame = null;
      if (this.cut) this.drawMap();
    });
  }

  drawMap() {
    const { map, cut } = this;
    const { width, height } = map.getBoundingClientRect();
    const dense = window.devicePixelRatio;
    if (map.width !== Math.round(width * dense)) map.width = Math.round(width * dense);
    if (map.height !== Math.round(height * dense)) map.height = Math.round(height * dense);
    const pen = map.getContext("2d");
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(map);
    const colour = (name) => style.getPropertyValue(name);
    const y = (place) => (height * place) / this.length;
    const bar = (from, to, left, right) => pen.fillRect(left, y(from), right - left, Math.max(2, y(to) - y(from)));
    pen.fillStyle = colour("--cs-rank");
    for (const [row, rank] of Object.entries(this.measured?.ranks ?? {})) {
      pen.globalAlpha = Math.max(0.35, 1 - 0.13 * (rank - 1));
      bar(cut.starts[row], cut.ends[row], 0, width / 2);
    }
    pen.globalAlpha = 1;
    for (const number of this.state.marked) {
      pen.fillStyle = colour(cut.held[number] ? "--cs-held" : "--cs-cut");
      bar(...this.passages[number], width * 0.6, width);
    }
    pen.fillStyle = colour("--cs-tick");
    for (const start of cut.starts) pen.fillRect(0, y(start), width * 0.55, 1);
    const [top, bottom] = [this.pane.scrollTop, this.pane.scrollTop + this.pane.clientHeight].map((h) => y(this.placeAt(h)));
    pen.strokeStyle = colour("--cs-frame");
    pen.lineWidth = 2;
    pen.strokeRect(1, top + 1, width - 2, Math.max(6, bottom - top - 2));
  }
}

// Fills a block with its runs, unless it holds them already.
function fill(block, runs) {
  const drawn = runs.map((run) => `${run.start},${run.end},${run.chunks},${run.classes},${run.label}`).join(";");
  if (block.drawn === drawn) return;
  block.drawn = drawn;
  block.element.replaceChildren(...runs.map((run) => piece(block, run)));
}

function piece(block, run) {
  const from = Math.max(run.start, block.start);
  const text = block.text.slice(from - block.start, run.end - block.start);
  if (!run.classes) return document.createTextNode(text);
  const mark = document.createElement("mark");
  mark.textContent = text;
  mark.chunks = run.chunks;
  // A run that goes on from the block before is not its beginning: the bar stands there alone.
  mark.className = from === run.start ? run.classes : run.classes.replace(/ ?cs-(bar|through|parent)\b/g, "");
  if (from === run.start && run.label) mark.dataset.label = run.label;
  return mark;
}

function counted(number, thing) {
  return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
}
