// Single intervals: a lane per thread, with the critical path in red from lane to lane.
import { scaleLinear } from 'd3-scale';
import { chart, xAxis } from './charts.js';
import { choice, cut, el, refill, section, svg, tooltip } from './dom.js';
import { percent, time } from './format.js';

const LANE = 58;
const TOP = 10;
const LEFT = 150;

/** Own time carries the name of its function. */
function leafName({ path, kinds }) {
  const last = path.length - 1;
  return kinds[last] === 'body' && last > 0 && kinds[last - 1] !== 'wait' ? path[last - 1] : path[last];
}

function drawTimeline(root, width, height, shown) {
  const x = scaleLinear([0, shown.latency_ns], [LEFT, width - 16]);
  const lane = (thread) => TOP + thread * LANE;
  shown.threads.forEach((thread, i) => {
    root.append(svg('rect', { class: 'lane', x: LEFT, y: lane(i), width: width - 16 - LEFT, height: LANE - 8, rx: 3 }),
      svg('text', { class: 'lane-name', x: 4, y: lane(i) + 20 }, cut(thread.name || 'thread', LEFT - 10)),
      svg('text', { class: 'lane-id', x: 4, y: lane(i) + 36 }, `${thread.pid}:${thread.thread}`));
  });
  for (const [from, to, thread, name, kind] of shown.waits) {
    if (to - from < shown.latency_ns / 2000) continue;
    const span = { from, to, thread, name, kind };
    const w = Math.max(x(span.to) - x(span.from), 1);
    const g = svg('g', { class: `waiting kind-${span.kind}` },
      svg('rect', { x: x(span.from), y: lane(span.thread) + 28, width: w, height: 18, rx: 2 }));
    if (w > 40) g.append(svg('text', { x: x(span.from) + 4, y: lane(span.thread) + 41 }, cut(span.name, w - 6)));
    root.append(tooltip(g, () => [span.name, `waited ${time(span.to - span.from)}, from ${time(span.from)}`, shown.threads[span.thread].name]));
  }
  shown.pieces.forEach((piece, i) => {
    const w = Math.max(x(piece.to) - x(piece.from), 0.8);
    const name = leafName(piece);
    const g = svg('g', { class: 'critical' }, svg('rect', { x: x(piece.from), y: lane(piece.thread) + 4, width: w, height: 20 }));
    if (w > 34) g.append(svg('text', { x: x(piece.from) + 4, y: lane(piece.thread) + 18 }, cut(name, w - 6)));
    root.append(tooltip(g, () => [name, piece.path.join(' › '), `${time(piece.to - piece.from)}, from ${time(piece.from)}`]));
    const next = shown.pieces[i + 1];
    if (next && next.thread !== piece.thread) {
      const at = x(piece.to);
      const down = next.thread > piece.thread;
      const [y1, y2] = [lane(piece.thread) + (down ? 24 : 4), lane(next.thread) + (down ? 4 : 24)];
      root.append(svg('path', { class: 'wake', d: `M${at},${y1}V${y2}m-3.5,${down ? -6 : 6}l3.5,${down ? 6 : -6}l3.5,${down ? -6 : 6}` }));
    }
  });
  xAxis(root, x, 'since the interval began', { width, height }, x.ticks(Math.max(2, width / 120)));
}

function table(shown) {
  const listed = shown.pieces.filter((piece) => piece.to - piece.from >= shown.latency_ns / 200);
  return el('details', {}, el('summary', {}, `Pieces of 0.5 % and more as a table (${listed.length} of ${shown.pieces.length})`),
    el('div', { class: 'scroll' }, el('table', { class: 'plain' },
      el('thead', {}, el('tr', {}, ['at', 'took', 'part', 'thread', 'what'].map((name, i) => el('th', { scope: 'col', class: i < 3 ? 'number' : '' }, name)))),
      el('tbody', {}, listed.map((piece) => el('tr', {},
        [time(piece.from), time(piece.to - piece.from), percent((piece.to - piece.from) / shown.latency_ns)].map((text) => el('td', { class: 'number' }, text)),
        el('td', {}, shown.threads[piece.thread].name), el('td', { class: 'path' }, piece.path.slice(1).join(' › '))))))));
}

export function timelines(data) {
  if (data.timelines.length === 0) return null;
  for (const one of data.timelines) {
    one.pieces = one.pieces.map(([from, to, thread, place]) => ({ from, to, thread, path: one.places[place].map((n) => one.names[n][0]),
      kinds: one.places[place].map((n) => one.names[n][1]) }));
  }
  const holder = el('div', { id: 'timeline' });
  const show = (index) => {
    const shown = data.timelines[index];
    const height = TOP + shown.threads.length * LANE + 44;
    const drawing = chart('timeline-chart', height, () => `Interval ${shown.id}, ${time(shown.latency_ns)}, on ${shown.threads.length} threads`,
      (root, width) => drawTimeline(root, width, height, shown));
    refill(holder,
      el('p', { class: 'timeline-title' }, el('strong', {}, `#${shown.id}`), ` ${shown.key && `key ${shown.key}  `}${shown.label}  ${time(shown.latency_ns)}`, el('small', {}, `  ${shown.why}`),
        shown.cut ? el('small', {}, `; the ${shown.cut} shortest pieces are merged into their neighbours`) : null),
      drawing.holder, table(shown));
  };
  show(0);
  return section('timelines', 'Single intervals',
    'Red: the critical path from thread to thread. Arrows: wake-ups and hand-offs. Dashed: how long a thread waited.',
    el('div', { class: 'controls' }, choice('Interval', 'exemplar', data.timelines.map((one, i) => [String(i), `${one.why} ${time(one.latency_ns)}`]), '0',
      (value) => show(Number(value)))), holder);
}
