// Single intervals: the timeline of one, or what else is known about it.
import { el, refill, section } from './dom.js';
import { percent, time } from './format.js';
import { factorLink, nodeLink } from './links.js';
import { lanes, pieceName } from './lanes.js';
import { factorName, hasTimes, timeIn } from './model.js';
import { state } from './state.js';

const MOST_ROWS = 200;

/** Steps of paths, from the table that all timelines share; step 0 is above the interval. */
function unpack(data) {
  const places = [null, ...data.places.map(([parent, name, kind, node]) => ({ parent, name, kind, node }))];
  const paths = [[]];
  for (let i = 1; i < places.length; ++i) paths.push([...paths[places[i].parent], places[i]]);
  for (const one of data.timelines) {
    one.pieces = one.pieces.map(([from, to, thread, place]) => ({ from, to, thread, steps: paths[place] }));
  }
}

const pathOf = (data, steps) => steps.map((step, i) =>
  [i ? ' › ' : null, step.node >= 0 ? nodeLink(data, step.node, step.name) : step.name]);

function pieceTable(data, timeline) {
  const listed = timeline.pieces.filter((piece) => piece.to - piece.from >= timeline.latency_ns / 200).slice(0, MOST_ROWS);
  const box = el('details', {}, el('summary', {}, `Pieces of 0.5 % and more as a table (${listed.length} of ${timeline.pieces.length})`));
  box.addEventListener('toggle', () => {
    if (!box.open || box.querySelector('table')) return;
    box.append(el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of pieces' }, el('table', { class: 'plain' },
      el('thead', {}, el('tr', {}, ['at', 'took', 'part', 'thread', 'what'].map((name, i) => el('th', { scope: 'col', class: i < 3 ? 'number' : '' }, name)))),
      el('tbody', {}, listed.map((piece) => el('tr', {},
        [time(piece.from), time(piece.to - piece.from), percent((piece.to - piece.from) / timeline.latency_ns)].map((text) => el('td', { class: 'number' }, text)),
        el('td', {}, timeline.threads[piece.thread].name), el('td', { class: 'path' }, pathOf(data, piece.steps.slice(1)))))))));
  });
  return box;
}

function describePiece(data, timeline, piece) {
  const node = piece.steps.at(-1).node;
  const factor = data.factorOfNode.get(node) ?? data.factorOfNode.get(piece.steps.at(-2)?.node);
  return [el('h3', {}, pieceName(piece)),
    el('p', { class: 'path' }, pathOf(data, piece.steps)),
    el('p', {}, `${time(piece.to - piece.from)}, ${percent((piece.to - piece.from) / timeline.latency_ns)} of the interval, from ${time(piece.from)}, on ${timeline.threads[piece.thread].name || 'thread'}`,
      node >= 0 ? `; ${time(data.tree.mean[node])} on average` : null, factor ? ['; ', factorLink(factor, `factor ${factor.rank}`)] : null)];
}

/** Draws a timeline into `holder`, and follows the URL. Returns what ends that. */
function showTimeline(data, timeline, holder) {
  const about = el('div', { class: 'details', id: 'piece-details', 'aria-live': 'polite' });
  const bound = (name) => { const value = Number(state.get(name) ?? NaN); return value >= 0 ? value : null; };
  const span = el('span', { class: 'hint', id: 'timeline-span', 'aria-live': 'polite' });
  const tell = (from, to) => { span.textContent = from <= 0 && to >= timeline.latency_ns ? '' : `${time(from)} to ${time(to)} of ${time(timeline.latency_ns)}`; };
  const drawing = lanes(timeline, {
    from: bound('from'), to: bound('to'), chosen: null,
    shown: (from, to) => {
      const all = from <= 0 && to >= timeline.latency_ns;
      tell(from, to);
      state.set({ interval: timeline.id, from: all ? null : from, to: all ? null : to }, { source: 'lanes', passing: true });
    },
    choose: (index) => refill(about, describePiece(data, timeline, timeline.pieces[index])),
  });
  const button = (text, label, act) => el('button', { type: 'button', 'aria-label': label, onclick: act }, text);
  refill(holder,
    el('p', { class: 'timeline-title' }, el('strong', {}, `#${timeline.id}`), ` ${timeline.key && `key ${timeline.key}  `}${timeline.label}  ${time(timeline.latency_ns)}`,
      el('small', {}, `  ${timeline.why}`),
      timeline.cut ? el('small', {}, `; the ${timeline.cut} shortest pieces are merged into their neighbours`) : null),
    el('div', { class: 'controls', role: 'group', 'aria-label': 'Zoom' },
      button('+', 'Zoom in', () => drawing.zoomBy(2)), button('−', 'Zoom out', () => drawing.zoomBy(0.5)),
      button('‹', 'Earlier', () => drawing.pan(-0.5)), button('›', 'Later', () => drawing.pan(0.5)), button('whole interval', 'Whole interval', drawing.whole), span,
      el('span', { class: 'hint keys' }, 'Drag to pan, Ctrl and the wheel to zoom. With the keyboard: ← → pieces, W S zoom, A D pan, F fits the piece, 0 shows all.')),
    drawing.holder, about, pieceTable(data, timeline));
  const tellShown = () => tell(bound('from') ?? 0, bound('to') ?? timeline.latency_ns);
  tellShown();
  return { end: drawing.end, follow: () => { drawing.show(bound('from'), bound('to')); tellShown(); } };
}

/** For intervals without a timeline: the times of the first factors in it, and how to see the rest. */
function showFigures(data, id, holder) {
  const known = data.intervalOf.get(id);
  const named = data.factors.flatMap((factor) => [...factor.worst, ...factor.typical].filter((one) => one.id === id).map((one) => ({ ...one, factor })));
  const latency = known?.latency ?? named[0]?.latency;
  const label = known ? data.labels[known.label]?.label : '';
  const times = known ? data.factors.filter((factor) => factor.kind === 'variance' && hasTimes(factor))
    .map((factor) => [factor, timeIn(known, factor.columns[0])]) : named.map((one) => [one.factor, one.ns]);
  const rows = times.filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]).slice(0, 20);
  refill(holder,
    el('p', { class: 'timeline-title' }, el('strong', {}, `#${id}`), ` ${label ?? ''}  ${latency === undefined ? '' : time(latency)}`),
    latency === undefined ? el('p', {}, 'The page knows no interval with this id.')
      : el('p', {}, 'The page does not hold its timeline. While there is the recording, this prints it: ', el('code', {}, `vprof timeline ${id}`)),
    rows.length === 0 ? null : el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Times of factors' }, el('table', { class: 'plain', id: 'interval-times' },
      el('caption', {}, 'Times of factors in it; one may be within another'),
      el('thead', {}, el('tr', {}, ['factor', 'took', 'part', 'on average'].map((name, i) => el('th', { scope: 'col', class: i ? 'number' : '' }, name)))),
      el('tbody', {}, rows.map(([factor, ns]) => el('tr', {}, el('th', { scope: 'row' }, factorLink(factor, factorName(factor))),
        el('td', { class: 'number' }, time(ns)), el('td', { class: 'number' }, percent(ns / latency)),
        el('td', { class: 'number' }, time(factor.nodes.reduce((sum, node) => sum + data.tree.mean[node], 0)))))))));
}

export function intervals(data) {
  if (data.timelines.length === 0 && data.intervals.length === 0) return null;
  unpack(data);
  const holder = el('div', { id: 'timeline' });
  const wanted = () => state.get('interval') ?? data.timelines[0]?.id ?? data.intervals.reduce((a, b) => (a.latency > b.latency ? a : b)).id;
  const names = data.timelines.map((one) => [one.id, `${time(one.latency_ns)}  ${one.why}  #${one.id}`]);
  const box = el('select', { id: 'interval', onchange: () => turnTo(box.value) });
  const turnTo = (id) => state.set({ interval: id, from: null, to: null });
  let now = null;
  function choices() {
    const list = data.timelineOf.has(wanted()) ? names : [[wanted(), `#${wanted()}`], ...names];
    box.replaceChildren(...list.map(([value, text]) => el('option', { value, selected: value === wanted() }, text)));
  }
  const step = (by) => {
    const index = data.timelines.findIndex((one) => one.id === wanted());
    const next = data.timelines[Math.max(0, Math.min(index + by, data.timelines.length - 1))];
    if (next) turnTo(next.id);
  };
  function show() {
    now?.end();
    const timeline = data.timelineOf.get(wanted());
    now = timeline ? showTimeline(data, timeline, holder) : null;
    if (!timeline) showFigures(data, wanted(), holder);
    choices();
  }
  state.listen((changed, source) => {
    if (source === 'lanes') return;
    if (changed.has('interval')) show();
    else if (changed.has('from') || changed.has('to')) now?.follow();
  });
  show();
  return section('timelines', 'Single intervals',
    'Red: the critical path from thread to thread. Arrows: wake-ups and hand-offs. Dashed: how long a thread waited.',
    el('div', { class: 'controls' }, el('label', { class: 'select' }, 'Interval ', box),
      el('button', { type: 'button', 'aria-label': 'Previous interval', onclick: () => step(-1) }, '‹'),
      el('button', { type: 'button', 'aria-label': 'Next interval', onclick: () => step(1) }, '›')), holder);
}
