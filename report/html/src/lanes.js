// The drawing of a timeline: a lane per thread, with the critical path in red from lane to lane. Zooms and pans.
import { scaleLinear } from 'd3-scale';
import { select as d3 } from 'd3-selection';
import { zoom as d3zoom, zoomIdentity } from 'd3-zoom';
import { MARGIN, xAxis } from './charts.js';
import { cut, el, hoverTip, svg } from './dom.js';
import { time } from './format.js';

const LANE = 58;
const TOP = 10;
const RIGHT = 16;
const CLOSEST = 20; // ns in the whole width

/** How a piece is called: own time carries the name of its function. */
export function pieceName({ steps }) {
  const last = steps.length - 1;
  return steps[last].kind === 'body' && last > 0 && steps[last - 1].kind !== 'wait' ? steps[last - 1].name : steps[last].name;
}

/** Calls `shown(from, to)` with the visible part after it has changed, and `choose(piece)` with the index of the one
 * that is pointed at. */
export function lanes(timeline, { from, to, chosen, shown, choose }) {
  const total = Math.max(timeline.latency_ns, 1);
  const height = TOP + timeline.threads.length * LANE + MARGIN.bottom + 4;
  const most = Math.max(1, total / CLOSEST);
  let width = 0;
  let left = 150;
  let at = chosen;
  let view = zoomIdentity;
  let frame = 0;
  const whole = () => scaleLinear([0, total], [left, width - RIGHT]);
  const holder = el('div', { class: 'chart', id: 'timeline-chart' });
  const keys = el('div', { class: 'cursor', role: 'slider', tabindex: 0, 'aria-label': 'Pieces of the critical path', 'aria-valuemin': 1, 'aria-valuemax': timeline.pieces.length, 'aria-valuenow': 1 });
  holder.append(keys);

  const lane = (thread) => TOP + thread * LANE;
  const describe = (piece) => `${pieceName(piece)}, ${time(piece.to - piece.from)}, from ${time(piece.from)}, on ${timeline.threads[piece.thread].name || 'thread'}`;

  function drawWaits(root, x) {
    timeline.waits.forEach(([start, end, thread, name, kind], i) => {
      if (x(end) < left || x(start) > width - RIGHT || x(end) - x(start) < 0.7) return;
      const [a, b] = [Math.max(x(start), left), Math.min(x(end), width - RIGHT)];
      const w = Math.max(b - a, 1);
      const g = svg('g', { class: `waiting kind-${kind}`, 'data-wait': i }, svg('rect', { x: a, y: lane(thread) + 28, width: w, height: 18, rx: 2 }));
      if (w > 40) g.append(svg('text', { x: a + 4, y: lane(thread) + 41 }, cut(name, w - 6)));
      root.append(g);
    });
  }

  function drawPieces(root, x) {
    timeline.pieces.forEach((piece, i) => {
      const [a, b] = [Math.max(x(piece.from), left), Math.min(x(piece.to), width - RIGHT)];
      if (b >= left && a <= width - RIGHT) {
        const w = Math.max(b - a, 0.8);
        const g = svg('g', { class: i === at ? 'critical chosen' : 'critical', 'data-piece': i },
          svg('rect', { x: a, y: lane(piece.thread) + 4, width: w, height: 20 }));
        if (w > 34) g.append(svg('text', { x: a + 4, y: lane(piece.thread) + 18 }, cut(pieceName(piece), w - 6)));
        root.append(g);
      }
      const next = timeline.pieces[i + 1];
      const over = x(piece.to);
      if (!next || next.thread === piece.thread || over < left || over > width - RIGHT) return;
      const down = next.thread > piece.thread;
      const [y1, y2] = [lane(piece.thread) + (down ? 24 : 4), lane(next.thread) + (down ? 4 : 24)];
      root.append(svg('path', { class: 'wake', d: `M${over},${y1}V${y2}m-3.5,${down ? -6 : 6}l3.5,${down ? 6 : -6}l3.5,${down ? -6 : 6}` }));
    });
  }

  function draw() {
    if (width < 50) return;
    const x = view.rescaleX(whole());
    const root = d3(holder).select('svg').node();
    root.replaceChildren();
    timeline.threads.forEach((thread, i) => {
      root.append(svg('rect', { class: 'lane', x: left, y: lane(i), width: width - RIGHT - left, height: LANE - 8, rx: 3 }),
        svg('text', { class: 'lane-name', x: 4, y: lane(i) + 20 }, cut(thread.name || 'thread', left - 10)),
        svg('text', { class: 'lane-id', x: 4, y: lane(i) + 36 }, cut(`${thread.pid}:${thread.thread}`, left - 6)));
    });
    drawWaits(root, x);
    drawPieces(root, x);
    xAxis(root, x, 'since the interval began', { width, height }, x.ticks(Math.max(2, (width - left) / 110)));
    if (at !== null) tellKeys();
  }

  function tellKeys() {
    const text = describe(timeline.pieces[at]);
    keys.setAttribute('aria-valuenow', at + 1);
    keys.setAttribute('aria-valuetext', text);
    keys.textContent = text;
  }

  const visible = () => view.rescaleX(whole()).domain().map((ns) => Math.round(Math.max(0, Math.min(total, ns))));
  const behaviour = d3zoom().scaleExtent([1, most])
    .filter((event) => (event.type === 'wheel' ? event.ctrlKey || event.metaKey : !event.button))
    .on('zoom', (event) => {
      view = event.transform;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(draw);
    })
    .on('end', (event) => { if (event.sourceEvent) shown(...visible()); });

  function show(start, end) {
    const span = Math.max(end - start, total / most);
    const scale = Math.min(most, total / span);
    const x = whole();
    view = zoomIdentity.scale(scale).translate(-(x(start) - left) - left + left / scale, 0);
    d3(holder).select('svg').call(behaviour.transform, view);
    draw();
  }

  function moveTo(start, end) {
    const span = Math.min(end - start, total);
    const begin = Math.max(0, Math.min(start, total - span));
    show(begin, begin + span);
    shown(...visible());
  }
  function zoomBy(factor) {
    const [start, end] = visible();
    const [middle, half] = [(start + end) / 2, (end - start) / factor / 2];
    moveTo(middle - half, middle + half);
  }
  function pan(part) {
    const [start, end] = visible();
    moveTo(start + (end - start) * part, end + (end - start) * part);
  }
  function pick(index, follow = true) {
    at = Math.max(0, Math.min(index, timeline.pieces.length - 1));
    const piece = timeline.pieces[at];
    const [start, end] = visible();
    if (follow && (piece.to < start || piece.from > end)) moveTo(piece.from - (end - start) / 2, piece.from + (end - start) / 2);
    draw();
    choose(at);
  }
  const fit = () => { if (at !== null) { const { from: a, to: b } = timeline.pieces[at]; moveTo(a - (b - a) * 0.2, b + (b - a) * 0.2); } };

  const KEYS = {
    ArrowRight: () => pick((at ?? -1) + 1), ArrowLeft: () => pick((at ?? 1) - 1), Home: () => pick(0), End: () => pick(Infinity),
    '+': () => zoomBy(2), '=': () => zoomBy(2), '-': () => zoomBy(0.5), 0: () => moveTo(0, total), w: () => zoomBy(2), s: () => zoomBy(0.5),
    a: () => pan(-0.25), d: () => pan(0.25), f: fit, Enter: fit,
  };
  keys.addEventListener('keydown', (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  keys.addEventListener('focus', () => { if (at === null) pick(0, false); });
  holder.addEventListener('click', (event) => {
    const piece = event.target.closest?.('[data-piece]');
    if (piece) pick(Number(piece.dataset.piece), false);
  });
  hoverTip(holder, (target) => {
    const piece = target.closest?.('[data-piece]');
    if (piece) {
      const one = timeline.pieces[Number(piece.dataset.piece)];
      return [pieceName(one), one.steps.map((step) => step.name).join(' › '), `${time(one.to - one.from)}, from ${time(one.from)}`];
    }
    const wait = target.closest?.('[data-wait]');
    if (!wait) return null;
    const [start, end, thread, name] = timeline.waits[Number(wait.dataset.wait)];
    return [name, `waited ${time(end - start)}, from ${time(start)}`, timeline.threads[thread].name];
  });
  const watch = new ResizeObserver(() => {
    const now = Math.floor(holder.clientWidth);
    if (now === width || now < 50) return;
    const [start, end] = width === 0 ? [from ?? 0, to ?? total] : visible();
    width = now;
    left = width < 600 ? 84 : 150;
    holder.querySelector('svg')?.remove();
    holder.prepend(svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
      'aria-label': `Timeline of the interval, ${time(total)}, on ${timeline.threads.length} threads` }));
    behaviour.extent([[left, 0], [width - RIGHT, height]]).translateExtent([[left, 0], [width - RIGHT, height]]);
    d3(holder).select('svg').call(behaviour).on('dblclick.zoom', null).on('dblclick', fit);
    show(start, end);
  });
  watch.observe(holder);
  return { holder, zoomBy, pan, whole: () => moveTo(0, total), show: (start, end) => show(start ?? 0, end ?? total), end: () => watch.disconnect() };
}
