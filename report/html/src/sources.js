// The source of the functions that factors name, with what each measured call in it costs.
import { el, section } from './dom.js';
import { count, percent, time } from './format.js';
import { factorLink, link, nameLink } from './links.js';
import { state } from './state.js';

const COLUMNS = ['calls', 'mean', 'std. dev.', 'share'];
const COSTLY = 0.05; // share of a row that is marked
const LEAST_NAMED = 0.01; // share of a call that the details of a factor name
const MOST_NAMED = 4;

const calls = (n) => (n === 0 ? '' : n < 0.005 ? '<0.01' : n < 100 ? n.toFixed(2) : n.toFixed(0));
const isCostly = (share) => Math.abs(share) >= COSTLY;
const cell = (text) => el('td', { class: 'number' }, text);
/** Cells of [calls, mean, standard deviation, share]. Mean 0: on no critical path. */
const figures = ([n, mean, deviation, share]) => [cell(calls(n)), cell(time(mean)), ...(mean === 0 ? [cell(''), cell('')] : [cell(time(deviation)), cell(percent(share))])];
const noFigures = () => COLUMNS.map(() => cell(''));

function lineRow(data, source, number, text, costs) {
  const [only] = costs.length === 1 ? costs : [];
  const costly = only && isCostly(only.at(-1));
  return el('tr', { class: `line${costly ? ' costly' : ''}${number === source.line ? ' marked' : ''}` },
    source.costed ? (only ? figures(only.slice(2)) : noFigures()) : null,
    el('td', { class: 'number line-number' }, number),
    el('td', { class: 'code' }, el('code', {}, text), only ? el('small', {}, nameLink(data, only[1])) : null));
}

function callRow(data, [callee, place, ...costs]) {
  return el('tr', { class: isCostly(costs.at(-1)) ? 'call costly' : 'call' }, figures(costs), el('td', { class: 'line-number' }),
    el('td', { class: 'code' }, callee.startsWith('(') ? callee : nameLink(data, callee), place ? el('small', {}, ` at ${place}`) : null));
}

const gapRow = (source, lines) => (lines <= 0 ? null : el('tr', { class: 'gap' },
  el('td', { colspan: source.costed ? COLUMNS.length + 2 : 2 }, `${count(lines)} more ${lines === 1 ? 'line' : 'lines'}`)));

function rows(data, source) {
  const of = new Map();
  for (const call of source.calls) of.set(call[0], [...of.get(call[0]) ?? [], call]);
  let next = source.first;
  const all = source.parts.flatMap(({ first, lines }) => {
    const gap = gapRow(source, first - next);
    next = first + lines.length;
    return [gap, lines.map((text, i) => {
      const costs = of.get(first + i) ?? [];
      return [lineRow(data, source, first + i, text, costs), costs.length > 1 ? costs.map(([, callee, ...rest]) => callRow(data, [callee, '', ...rest])) : null];
    })];
  });
  return [all, gapRow(source, source.last - next), source.rest.map((row) => callRow(data, row))];
}

function table(data, source) {
  const head = [...(source.costed ? COLUMNS : []), 'line', 'source'];
  return el('div', { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': `Source of ${source.title}` },
    el('table', { class: 'source' },
      el('thead', {}, el('tr', {}, head.map((name) => el('th', { scope: 'col', class: name === 'source' ? '' : 'number' }, name)))),
      el('tbody', {}, rows(data, source))));
}

function box(data, source, i) {
  return el('details', { 'data-source': i },
    el('summary', {}, source.title, el('small', {}, ` ${source.file}:${source.first}${source.share ? `, ${percent(source.share)} of the variance` : ''}`)),
    el('p', { class: 'hint' }, source.factors.map((index, n) => [n ? ', ' : 'Factors: ', factorLink(data.factors[index])])),
    source.notes.map((note) => el('p', { class: 'note' }, note)),
    source.parts.length + source.rest.length > 0 ? table(data, source) : null,
    source.notes_below.map((note) => el('p', { class: 'hint' }, note)));
}

export function sources(data) {
  if (data.sources.length === 0) return null;
  const boxes = data.sources.map((source, i) => box(data, source, i));
  const show = () => {
    const factor = state.number('factor', data.factors.length, 0);
    boxes.forEach((one, i) => { one.open = data.sources[i].factors.includes(factor); });
  };
  state.listen((changed) => { if (changed.has('factor')) show(); });
  window.addEventListener('beforeprint', () => boxes.forEach((one) => { one.open = true; }));
  window.addEventListener('afterprint', show);
  show();
  const left = data.sources_left_out;
  return section('sources', 'Source', `The functions of the top factors; those of the chosen one are open. ${data.sources.some((one) => one.costed)
    ? 'Beside a line is what its measured calls cost on critical paths, over all intervals: calls and mean per interval, standard deviation, and share of the variance of the latency. ' : ''}${left
    ? `The source of ${count(left)} more functions is left out; vprof annotate FUNCTION prints it.` : ''}`, ...boxes);
}

/** For the details of a factor: where its source is, and which calls in it have the largest shares. */
export function sourceOf(data, factor) {
  const found = data.sources.filter((one) => one.factors.includes(factor.index));
  const to = (...children) => link({ factor: factor.index, at: 'sources' }, {}, children);
  if (found.length === 0) {
    return factor.definition && data.sources_left_out ? el('p', { class: 'hint' }, `Its source is not in the page; vprof annotate ${factor.functions[0]} prints it.`) : null;
  }
  const costly = found.flatMap((one) => one.calls.map(([line, callee, ...costs]) => ({ place: `${one.file}:${line}`, callee, share: costs.at(-1) })))
    .filter(({ share }) => Math.abs(share) >= LEAST_NAMED).sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
  return [el('h4', {}, 'Source'), el('p', { class: 'other-views' }, found.map((one) => to(`${one.title} at ${one.file}:${one.first}`))),
    costly.length > 0 ? el('ul', { class: 'exemplars' }, costly.slice(0, MOST_NAMED).map(({ place, callee, share }) =>
      el('li', {}, el('strong', {}, percent(share)), ' ', nameLink(data, callee), el('small', {}, ` at ${place}`)))) : null];
}
