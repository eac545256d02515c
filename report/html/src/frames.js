// A tree as nested frames, each as wide as its part of the frame around it: the variance tree and the flame graphs.
// Only frames that are wide enough to see are in the document; runs of narrower ones are drawn as one.
import { el, hoverTip } from './dom.js';
import { count } from './format.js';

const ROW = 22;
const NARROWEST = 3; // pixels
const LEAST_TEXT = 34; // pixels of a frame with text
const MOST_ROWS = 32;

/** Frames of the nodes below `top`, left and right edges as parts of 1. Negative values have no width. Siblings
 * that exceed their parent are scaled to fit. Goes down only where a frame is wide enough, so that the time it takes
 * does not depend on the size of the tree. */
function layout(tree, top, values, narrowest) {
  const frames = [{ node: top, depth: 0, x0: 0, x1: 1 }];
  let hidden = 0;
  for (let i = 0; i < frames.length; ++i) {
    const { node, depth, x0, x1, runs } = frames[i];
    if (runs) continue;
    if (depth + 1 >= MOST_ROWS) {
      hidden += tree.end[node] - node - 1;
      continue;
    }
    let total = 0;
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) total += Math.max(0, values[child]);
    total = Math.max(total, values[node], 1e-300);
    let at = x0;
    let run = null;
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
      const next = at + ((x1 - x0) * Math.max(0, values[child])) / total;
      if (next - at >= narrowest) {
        frames.push({ node: child, depth: depth + 1, x0: at, x1: next });
        run = null;
      } else {
        hidden += tree.end[child] - child;
        if (!run) frames.push(run = { node: child, depth: depth + 1, x0: at, x1: at, runs: 0 });
        run.runs += tree.end[child] - child;
        run.x1 = next;
      }
      at = next;
    }
  }
  return { frames: frames.filter((one) => !one.runs || one.x1 - one.x0 >= narrowest / 3), hidden };
}

/** A chart of frames.
 *    values()     the width of each node
 *    text(node)   what a frame says; all of it is there for screen readers
 *    style(node)  its class
 *    tip(node)    lines for the pointer
 *    zoom(node), choose(node)   what a click and the focus do
 *    up           whether the root is at the bottom
 * draw(top, chosen, hits) draws it again; `hits` are the nodes that a search has found, or null. */
export function frameChart(data, { id, label, values, text, style, tip, zoom, choose, up = false }) {
  const { tree } = data;
  const holder = el('div', { class: `frames${up ? ' up' : ''}`, id, role: 'tree', 'aria-label': label() });
  let shown = new Map();
  let view = { top: 0, chosen: 0, hits: null };
  let width = 0;
  const chart = { holder, hidden: 0, draw, mark, onDrawn: () => {} };

  function frame({ node, depth, x0, x1, runs }, height) {
    const row = up ? height - 1 - depth : depth;
    const box = `left:${(100 * x0).toFixed(3)}%;width:${(100 * (x1 - x0)).toFixed(3)}%;top:${row * ROW}px`;
    if (runs) return el('div', { class: 'narrow', role: 'presentation', style: box });
    const wide = (x1 - x0) * width >= LEAST_TEXT;
    const found = view.hits ? (view.hits[node] ? ' hit' : ' dim') : '';
    const one = el('div', { class: `node ${style(node)}${found}`, role: 'treeitem', tabindex: -1, 'data-node': node, style: box,
      'aria-level': depth + 1, 'aria-selected': node === view.chosen, 'aria-label': wide ? null : text(node) }, wide ? text(node) : null);
    shown.set(node, one);
    return one;
  }

  function draw(top = view.top, chosen = view.chosen, hits = view.hits) {
    view = { top, chosen, hits };
    if (width < 40) return;
    const { frames, hidden } = layout(tree, top, values(), NARROWEST / width);
    const height = frames.reduce((most, { depth }) => Math.max(most, depth), 0) + 1;
    shown = new Map();
    holder.setAttribute('aria-label', label());
    holder.style.height = `${height * ROW}px`;
    const had = holder.contains(document.activeElement);
    holder.replaceChildren(...frames.map((one) => frame(one, height)));
    chart.hidden = hidden;
    const stop = shown.get(chosen) ?? shown.get(top);
    stop.setAttribute('tabindex', '0');
    if (had) stop.focus({ preventScroll: true });
    chart.onDrawn();
  }

  /** Marks a node from elsewhere, such as the one under the pointer in the chart beside this one. */
  function mark(node) {
    holder.querySelectorAll('.beside').forEach((one) => one.classList.remove('beside'));
    shown.get(node)?.classList.add('beside');
  }

  const nodeAt = (target) => { const one = target.closest?.('.node'); return one ? Number(one.dataset.node) : null; };

  function focus(node) {
    const one = shown.get(node);
    if (!one) return;
    holder.querySelectorAll('[tabindex="0"]').forEach((other) => other.setAttribute('tabindex', '-1'));
    one.setAttribute('tabindex', '0');
    one.focus();
  }

  const beside = (node, step) => {
    const around = node === view.top ? [node] : tree.childrenOf(tree.parent[node]).filter((one) => shown.has(one));
    return around[around.indexOf(node) + step];
  };
  const above = (node) => (node === view.top ? undefined : tree.parent[node]);
  const below = (node) => tree.childrenOf(node).find((one) => shown.has(one));
  const KEYS = {
    ArrowLeft: (node) => beside(node, -1), ArrowRight: (node) => beside(node, 1), ArrowUp: up ? below : above, ArrowDown: up ? above : below,
    Home: () => view.top,
  };

  holder.addEventListener('keydown', (event) => {
    const node = nodeAt(event.target);
    if (node === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (KEYS[event.key]) focus(KEYS[event.key](node));
    else if (event.key === 'Enter' || event.key === ' ') zoom(node);
    else if (event.key === 'Escape' || event.key === 'Backspace') zoom(view.top === 0 ? 0 : tree.parent[view.top], node);
    else return;
    event.preventDefault();
  });
  holder.addEventListener('focusin', (event) => {
    const node = nodeAt(event.target);
    if (node !== null && node !== view.chosen) {
      view.chosen = node;
      choose(node);
    }
  });
  holder.addEventListener('click', (event) => {
    const node = nodeAt(event.target);
    if (node !== null) zoom(node);
  });
  hoverTip(holder, (target) => {
    const node = nodeAt(target);
    return node === null ? null : tip(node);
  });
  new ResizeObserver(() => {
    const now = Math.floor(holder.clientWidth);
    if (now === width) return;
    width = now;
    draw();
  }).observe(holder);
  return chart;
}

export const hiddenNote = (hidden) => (hidden > 0 ? `${count(hidden)} places are too narrow to draw (grey); zoom in to see them.` : '');
