// The variance tree as an icicle: the root on top, its parts below, each as wide as its part.
import { chart, legend } from './charts.js';
import { choice, cut, el, refill, section, svg, tooltip } from './dom.js';
import { count, percent, time } from './format.js';
import { path, selection } from './model.js';

const ROW = 24;
const NARROWEST = 1; // pixels; narrower nodes are counted, not drawn
const MOST_ROWS = 26;
const MEASURES = {
  share: ['share of the variance', (node) => node.share],
  tail: ['tail share', (node) => node.tail],
  mean: ['mean time', (node) => node.mean],
};
export const KINDS = {
  function: 'function', body: 'own time', wait: 'wait', blame: 'what another thread did meanwhile', queue: 'queue',
  preempted: 'preempted', untracked: 'untracked', parked: 'parked',
};

/** Left and right edge of every node below `top`, as parts of 1. Negative values have no width. Siblings
 * that exceed their parent are scaled to fit. Iterative, since trees may be deep. */
function layout(top, value) {
  const placed = [{ node: top, depth: 0, x0: 0, x1: 1 }];
  for (let i = 0; i < placed.length; ++i) {
    const { node, depth, x0, x1 } = placed[i];
    const values = node.children.map((child) => Math.max(0, value(child)));
    const total = Math.max(values.reduce((a, b) => a + b, 0), value(node), 1e-300);
    let at = x0;
    node.children.forEach((child, c) => {
      const width = ((x1 - x0) * values[c]) / total;
      placed.push({ node: child, depth: depth + 1, x0: at, x1: at + width });
      at += width;
    });
  }
  return placed;
}

export function icicle(data) {
  let measure = 'share';
  let top = data.nodes[0];
  let focused = top;
  let chosen = null; // of the factor that all views show
  let shown = new Map(); // node index → element
  const details = el('div', { class: 'details', id: 'tree-details', 'aria-live': 'polite' });
  const crumbs = el('nav', { class: 'crumbs', 'aria-label': 'Zoomed to' });
  const hidden = el('p', { class: 'hint', id: 'tree-hidden' });
  const tree = el('div', { class: 'icicle', id: 'tree-chart' });

  function describe(node) {
    const facts = [['mean', time(node.mean)], ['std. deviation', time(Math.sqrt(Math.max(0, node.variance)))],
      ['contribution', percent(node.contribution)], ['share', percent(node.share)], ['tail share', percent(node.tail)],
      ['explained by work', node.work], ['explained by label', node.by_label], ['intervals', count(node.count)]]
      .filter(([, value]) => typeof value === 'string' || Math.abs(value) >= 0.01)
      .map(([name, value]) => [name, typeof value === 'string' ? value : percent(value)]);
    const factor = data.factors.find((one) => one.kind === 'variance' && one.nodes.includes(node.index));
    refill(details,
      el('h3', {}, el('span', { class: `swatch kind-${node.kind}` }), node.name),
      el('p', { class: 'path' }, path(data, node).join(' › ')),
      el('p', { class: 'hint' }, KINDS[node.kind], node.definition ? ` · ${node.definition}` : '',
        node.site && node.site !== node.definition ? ` · called at ${node.site}` : ''),
      el('dl', { class: 'facts' }, facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))),
      factor ? el('button', { type: 'button', onclick: () => selection.choose(factor.index, 'tree') }, `factor ${factor.rank}`) : null,
      covariances(node));
  }

  function covariances(node) {
    if (node.pairs.length === 0) return null;
    return el('table', { class: 'plain pairs' }, el('caption', {}, 'Children that vary together'),
      el('thead', {}, el('tr', {}, ['one', 'other', '2·Cov'].map((name, i) => el('th', { scope: 'col', class: i === 2 ? 'number' : '' }, name)))),
      el('tbody', {}, node.pairs.map(([a, b, contribution]) => el('tr', {},
        el('td', {}, data.nodes[a].name), el('td', {}, data.nodes[b].name),
        el('td', { class: 'number' }, percent(contribution))))),
      node.more_pairs ? el('tfoot', {}, el('tr', {}, el('td', { colspan: 3 }, `${count(node.more_pairs)} smaller ones`))) : null);
  }

  function drawCrumbs() {
    const up = [];
    for (let n = top; ; n = data.nodes[n.parent]) {
      up.unshift(n);
      if (n.index === 0) break;
    }
    crumbs.replaceChildren(...up.map((node, i) => (i + 1 === up.length
      ? el('span', { 'aria-current': 'true' }, cut(node.name, 260))
      : el('button', { type: 'button', onclick: () => zoom(node) }, cut(node.name, 160)))));
  }

  function draw(width) {
    const value = MEASURES[measure][1];
    shown = new Map();
    let narrow = 0;
    const placed = layout(top, value).filter(({ x0, x1, depth }) => {
      const fits = (x1 - x0) * width >= NARROWEST && depth < MOST_ROWS;
      if (!fits) narrow += 1;
      return fits;
    });
    const rows = Math.max(...placed.map(({ depth }) => depth), 0) + 1;
    const root = svg('svg', { width, height: rows * ROW, viewBox: `0 0 ${width} ${rows * ROW}`, role: 'tree', 'aria-label': `Variance tree by ${MEASURES[measure][0]}` });
    for (const { node, depth, x0, x1 } of placed) {
      const w = (x1 - x0) * width;
      const [x, y] = [x0 * width, depth * ROW];
      const g = svg('g', { role: 'treeitem', class: `node kind-${node.kind}${node === chosen ? ' chosen' : ''}`, tabindex: -1, 'data-node': node.index,
        'aria-level': depth + 1, 'aria-label': `${node.name}, ${percent(node.share)} of the variance`,
        onclick: () => { focus(node); zoom(node.children.length > 0 ? node : data.nodes[node.parent]); },
        onfocus: () => { focused = node; describe(node); } },
      svg('rect', { x: x.toFixed(2), y: y + 0.5, width: Math.max(w - 0.7, 0.6).toFixed(2), height: ROW - 1.5, rx: 2 }));
      if (w > 30) g.append(svg('text', { x: (x + 5).toFixed(2), y: y + 16 }, cut(`${node.name}  ${percent(node.share)}`, w - 8)));
      tooltip(g, () => [node.name, `${KINDS[node.kind]}, share ${percent(node.share)}, tail share ${percent(node.tail)}`,
        `contribution ${percent(node.contribution)}, mean ${time(node.mean)}`, node.site || node.definition]);
      shown.set(node.index, g);
      root.append(g);
    }
    (shown.get(focused.index) ?? shown.get(top.index)).setAttribute('tabindex', '0');
    root.addEventListener('keydown', onKey);
    hidden.textContent = narrow > 0 ? `${count(narrow)} nodes are too narrow to draw; zoom in to see them.` : '';
    return root;
  }

  let width = 0;
  const redraw = () => { if (width > 50) tree.replaceChildren(draw(width)); drawCrumbs(); };
  new ResizeObserver(() => {
    const now = Math.floor(tree.clientWidth);
    if (now !== width) { width = now; redraw(); }
  }).observe(tree);

  function focus(node) {
    focused = node;
    shown.forEach((g) => g.setAttribute('tabindex', '-1'));
    const g = shown.get(node.index);
    if (g) { g.setAttribute('tabindex', '0'); g.focus(); } else describe(node);
  }

  function zoom(node) {
    top = node;
    if (!path(data, focused).length || !isBelow(focused, node)) focused = node;
    redraw();
    focus(focused);
  }

  function isBelow(node, ancestor) {
    for (let n = node; ; n = data.nodes[n.parent]) {
      if (n === ancestor) return true;
      if (n.index === 0) return false;
    }
  }

  function onKey(event) {
    const parent = data.nodes[focused.parent ?? 0];
    const drawn = (list) => list.filter((node) => shown.has(node.index));
    const siblings = focused.index === 0 ? [focused] : drawn(parent.children);
    const at = siblings.indexOf(focused);
    const to = {
      ArrowLeft: () => siblings[at - 1], ArrowRight: () => siblings[at + 1],
      ArrowUp: () => (shown.has(parent.index) ? parent : null), ArrowDown: () => drawn(focused.children)[0], Home: () => top,
    }[event.key];
    if (to) {
      event.preventDefault();
      const node = to();
      if (node) focus(node);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      zoom(focused);
    } else if (event.key === 'Escape' || event.key === 'Backspace') {
      event.preventDefault();
      zoom(data.nodes[top.parent ?? 0]);
    }
  }

  selection.listen((index, source) => {
    if (source === 'tree') return;
    const node = data.nodes[data.factors[index].nodes[0] ?? 0];
    if (!isBelow(node, top)) top = data.nodes[0];
    focused = chosen = node;
    redraw();
    describe(node);
  });
  describe(top);
  const used = new Set(data.nodes.map((node) => node.kind));
  return section('tree', 'Variance tree',
    'Each node is the sum of those below it. Arrow keys move, Enter or a click zooms in, Escape zooms out.',
    el('div', { class: 'controls' }, choice('Width', 'tree-measure', Object.entries(MEASURES).map(([key, [name]]) => [key, name]), measure,
      (value) => { measure = value; redraw(); })),
    legend(Object.entries(KINDS).filter(([kind]) => used.has(kind)).map(([kind, name]) => [`kind-${kind}`, name])),
    crumbs, tree, hidden, details);
}
