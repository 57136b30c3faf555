// Measures of a page as it is laid out now; tests/page/looks.py says what is asked of them.
(function () {
  const shown = (element) => {
    const style = getComputedStyle(element);
    return element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && style.clipPath === "none"
      && element.getClientRects().length > 0;
  };
  const named = (element) => {
    const label = element.getAttribute("aria-label") || element.id || element.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
    return element.tagName.toLowerCase() + (element.className && element.className.baseVal === undefined ? "." + element.className : "") + " `" + label + "`";
  };
  /** Elements with text of their own. */
  function* texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, parent = node.parentElement;
      if (!node.data.trim() || parent.closest("script, style, noscript, title")) continue;
      if (shown(parent)) yield { node, parent, svg: parent.closest("svg") };
    }
  }
  function box(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  }

  // ---- Contrast (WCAG 2.2, 1.4.3) ----

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  /** Any colour of CSS as red, green, blue and opacity. */
  function rgba(color) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  }
  function over(top, below) { return [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])).concat(1); }
  function luminance([r, g, b]) {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  }
  function contrast(one, other) {
    const [a, b] = [luminance(one), luminance(other)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  }
  function background(element) {
    if (!element) return rgba(getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#fff");
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, background(element.parentElement));
  }
  /** What lies below a text in an image: the last filled shape before it that contains its middle. */
  function painted(text, svg) {
    const middle = text.getBoundingClientRect(), x = middle.x + middle.width / 2, y = middle.y + middle.height / 2;
    let found = background(svg);
    for (const shape of svg.querySelectorAll("rect, text")) {
      if (shape === text) break;
      if (shape.tagName !== "rect") continue;
      const area = shape.getBoundingClientRect(), fill = getComputedStyle(shape).fill;
      if (fill !== "none" && x >= area.left && x <= area.right && y >= area.top && y <= area.bottom) found = over(rgba(fill), found);
    }
    return found;
  }
  function poorContrast() {
    const poor = new Map();
    for (const { parent, svg } of texts()) {
      if (parent.closest(":disabled")) continue;
      const style = getComputedStyle(parent), size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
      const below = svg ? painted(parent, svg) : background(parent), ink = over(rgba(svg ? style.fill : style.color), below);
      const ratio = contrast(ink, below), wanted = !svg && (size >= 24 || (bold && size >= 18.66)) ? 3 : 4.5;
      if (ratio < wanted) poor.set(ink + "/" + below, named(parent) + " has a contrast of " + ratio.toFixed(2) + ", not " + wanted);
    }
    return [...poor.values()];
  }
  /** The colours of canvases, which are variables of their style: what is written on which. */
  function poorCanvasContrast() {
    const poor = [];
    for (const root of document.querySelectorAll(".schedule")) {
      const style = getComputedStyle(root), color = (name) => rgba(style.getPropertyValue("--s-" + name));
      const pairs = [["ink", "back", 4.5], ["miss", "back", 3], ["miss", "back", 4.5], ["ink", "wait", 4.5], ["soft", "back", 3]];
      for (let k = 0; k < 7; k++) pairs.push(["ink-" + k, "task-" + k, 4.5]);
      for (const [one, other, wanted] of pairs) {
        const ratio = contrast(color(one), color(other));
        if (ratio < wanted) poor.push("--s-" + one + " on --s-" + other + " has a contrast of " + ratio.toFixed(2) + ", not " + wanted);
      }
    }
    return poor;
  }

  // ---- Room ----

  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  /** Text that is cut: by the page's edge, or by a box that hides what does not fit. */
  function clipped() {
    const cut = [];
    for (const { node, parent, svg } of texts()) {
      const own = box(node);
      if (own.width === 0) continue;
      let inScroll = false;
      for (let at = parent; at && at !== document.documentElement; at = at.parentElement) {
        const style = getComputedStyle(at), area = at.getBoundingClientRect();
        const cutter = ["hidden", "clip"].includes(style.overflowX) || at.tagName.toLowerCase() === "svg";
        if (cutter && !inScroll && (own.right > area.right + 1 || own.left < area.left - 1)) cut.push(named(parent) + " is cut by " + named(at));
        if (["hidden", "clip"].includes(style.overflowY) && !inScroll && own.bottom > area.bottom + 2) cut.push(named(parent) + " is cut at the bottom of " + named(at));
        if (scrolls(at)) inScroll = true;
      }
      if (!inScroll && !parent.closest(".skip") && (own.right > innerWidth + 0.5 || own.left < -0.5)) cut.push(named(parent) + " ends at " + Math.round(own.right) + " of " + innerWidth);
      const matrix = svg && parent.getScreenCTM ? parent.getScreenCTM() : { a: 1, b: 0 }, scale = Math.hypot(matrix.a, matrix.b), size = parseFloat(getComputedStyle(parent).fontSize) * scale;
      if (size < 10.5 && matchMedia("screen").matches) cut.push(named(parent) + " is written in " + size.toFixed(1) + " px");
    }
    return [...new Set(cut)];
  }
  const wider = (element) => element.scrollWidth > element.clientWidth + 1;
  /** Boxes that have more than they show, sideways. */
  function scrolling() { return [...document.querySelectorAll("body *")].filter((element) => shown(element) && scrolls(element) && wider(element)); }
  /** What no page of paper would show: parts of tables, texts and images beyond the right edge. */
  function beyondPaper() {
    const all = [...document.querySelectorAll("table, pre, figure svg, canvas, p, dl, ul")].filter(shown);
    return all.filter((element) => element.getBoundingClientRect().right > innerWidth + 1 || (element.tagName === "PRE" && wider(element))).map(named);
  }

  // ---- Structure ----

  function structure() {
    const wrong = [], all = (selector) => [...document.querySelectorAll(selector)];
    if (!document.documentElement.lang) wrong.push("the page has no language");
    if (!document.title.trim()) wrong.push("the page has no title");
    if (all("h1").length !== 1) wrong.push("the page has " + all("h1").length + " main headings");
    if (all("main").length !== 1) wrong.push("the page has " + all("main").length + " main parts");
    let level = 0;
    for (const heading of all("h1, h2, h3, h4, h5, h6")) {
      const own = Number(heading.tagName[1]);
      if (own > level + 1) wrong.push(named(heading) + " is below a heading of level " + level);
      level = own;
    }
    for (const table of all("table")) {
      const heads = [...table.querySelectorAll("thead th")];
      if (heads.length === 0 || heads.some((head) => !head.scope)) wrong.push(named(table) + " lacks heads with a scope");
      if ([...table.querySelectorAll("tbody tr")].some((row) => row.cells.length > 0 && row.cells[0].scope !== "row")) wrong.push(named(table) + " has rows without heads");
      if (!table.getAttribute("aria-label") && !table.caption) wrong.push(named(table) + " has no name");
    }
    for (const svg of all("svg[role=img]")) if (!svg.querySelector("title")) wrong.push("an image has no name");
    const ids = all("[id]").map((element) => element.id);
    for (const id of new Set(ids.filter((id, k) => ids.indexOf(id) !== k))) wrong.push("two elements are called `" + id + "`");
    return wrong;
  }

  window.looks = { poorContrast, poorCanvasContrast, clipped, scrolling, wider, beyondPaper, structure, named, shown };
})();
