// The table of factors, a page at a time, and beside it the details of the chosen one.
import { choice, el, refill, section } from './dom.js';
import { describeFactor } from './factor_details.js';
import { count, margin, percent, score } from './format.js';
import { factorLink } from './links.js';
import { RANKINGS, factorName } from './model.js';
import { matchesFactor, search } from './search.js';
import { state } from './state.js';

const PAGE = 25; // rows
const RANKING_NAMES = [['score', 'score'], ['variance', "papers' score"], ['contribution', 'contribution'], ['share', 'share'], ['tail_share', 'tail share']];
const KIND_NAMES = [['all', 'all'], ['variance', 'variances'], ['covariance', 'covariances']];
const COLUMNS = [
  ['rank', '#', true, (row) => row.rank],
  ['name', 'factor', false, (row) => factorName(row.factor).toLowerCase()],
  ['share', 'share', true, (row) => row.factor.share],
  ['contribution', 'contribution', true, (row) => row.factor.contribution],
  ['tail_share', 'tail share', true, (row) => row.factor.tail_share ?? -Infinity],
  ['height', 'height', true, (row) => row.factor.height],
  ['score', 'score', true, (row) => row.score],
  ['variance_rank', "papers' #", true, (row) => row.varianceRank || Infinity],
  ['status', 'status', false, (row) => row.factor.status],
];
const isNumber = (column) => COLUMNS.find(([key]) => key === column)[2];

/** A name that may be broken after each `::`. */
const breakable = (name) => name.split(/(?<=::)/).map((part, i) => [i ? el('wbr') : null, part]);

const short = (name, value) => (name === value ? null : value);

/** All factors in the order of the ranking, with rank and score. Which of them are marked is for the analysis to say,
 * whatever the order. */
function ranked(data, ranking, power) {
  const byVariance = data.factors.filter((factor) => factor.variance_rank).sort((a, b) =>
    RANKINGS.variance(data, b, power) - RANKINGS.variance(data, a, power) || a.variance_rank - b.variance_rank);
  const varianceRank = new Map(byVariance.map((factor, i) => [factor, i + 1]));
  const all = data.factors.map((factor) => ({ factor, score: RANKINGS[ranking === 'variance' ? ranking : 'score'](data, factor, power),
    by: RANKINGS[ranking](data, factor, power), varianceRank: varianceRank.get(factor) ?? 0 }));
  all.sort((a, b) => b.by - a.by || a.factor.rank - b.factor.rank);
  all.forEach((row, i) => { row.rank = i + 1; });
  return all;
}

function tableRow({ factor, rank, score: points, varianceRank }, chosen) {
  const width = `${Math.min(100, Math.max(0, 100 * factor.share)).toFixed(1)}%`;
  const certain = factor.significant ? margin(factor.share_ci95, factor.share) : 'may be chance';
  return el('tr', { 'data-factor': factor.index, class: `${factor.marked ? 'marked' : ''}${factor.index === chosen ? ' chosen' : ''}` },
    el('td', { class: 'number' }, rank, factor.marked ? el('span', { class: 'unseen' }, ', look here first') : null),
    el('th', { scope: 'row' }, factorLink(factor, factor.functions.map((name, i) => [i ? el('span', { class: 'with' }, ' with ') : null, breakable(name)])),
      factor.definition ? el('small', {}, factor.definition) : null),
    el('td', { class: 'number part' }, el('span', { class: `part-bar ${factor.kind}`, style: `width:${width}` }),
      el('span', {}, percent(factor.share), ' ', el('small', {}, certain))),
    el('td', { class: 'number' }, percent(factor.contribution), ' ', el('small', {}, margin(factor.ci95, factor.contribution))),
    el('td', { class: 'number' }, percent(factor.tail_share)),
    el('td', { class: 'number' }, factor.height),
    el('td', { class: 'number' }, score(points)),
    el('td', { class: 'number' }, varianceRank || '–'),
    el('td', {}, el('span', { class: `status status-${factor.status}` }, factor.status)));
}

export function factors(data) {
  if (data.factors.length === 0) {
    return section('factors', 'Where the variance comes from', 'No factor reaches 1 % of the variance.');
  }
  const powers = Object.fromEntries(data.specificity_rules);
  const body = el('tbody');
  const heads = COLUMNS.map(([key, name, number]) => el('th', { scope: 'col', class: number ? 'number' : '', 'data-column': key },
    el('button', { type: 'button', title: key === 'variance_rank' ? "rank by the papers' score, which takes variances" : null, onclick: () => sortBy(key) }, name)));
  const details = el('div', { class: 'details', id: 'factor-details', 'aria-live': 'polite' });
  const where = el('span', { 'aria-live': 'polite' });
  const turn = (text, label, by) => el('button', { type: 'button', 'aria-label': label, onclick: () => turnTo(shownPage + by) }, text);
  const [back, on] = [turn('‹', 'Previous page', -1), turn('›', 'Next page', 1)];
  const pager = el('div', { class: 'pager', id: 'factor-pager' }, back, where, on);
  let rows = [];
  let shownPage = 0;

  const ranking = () => state.one('rank', RANKING_NAMES.map(([key]) => key), 'score');
  const power = () => state.one('specificity', Object.keys(powers), data.specificity);
  const kinds = () => state.one('kinds', KIND_NAMES.map(([key]) => key), 'all');
  const chosen = () => state.number('factor', data.factors.length, 0);
  function sorting() {
    const [column, direction] = state.get('sort', 'rank').split('.');
    return COLUMNS.some(([key]) => key === column) ? { column, falling: direction === 'falling' } : { column: 'rank', falling: false };
  }

  function sortRows() {
    const { column, falling } = sorting();
    const value = COLUMNS.find(([key]) => key === column)[3];
    const order = (a, b) => { const [x, y] = [value(a), value(b)]; return x < y ? -1 : Number(x > y); };
    rows = ranked(data, ranking(), powers[power()])
      .filter((row) => (kinds() === 'all' || row.factor.kind === kinds()) && matchesFactor(row.factor))
      .sort((a, b) => (falling ? order(b, a) : order(a, b)) || a.rank - b.rank);
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    shownPage = state.number('page', pages, 0);
    const from = shownPage * PAGE;
    body.replaceChildren(...rows.slice(from, from + PAGE).map((row) => tableRow(row, chosen())));
    const { column, falling } = sorting();
    heads.forEach((head) => head.setAttribute('aria-sort', head.dataset.column !== column ? 'none' : falling ? 'descending' : 'ascending'));
    pager.hidden = rows.length <= PAGE && search.text === '';
    where.textContent = rows.length === 0 ? `no factor matches “${search.text}”`
      : `${count(from + 1)} to ${count(Math.min(from + PAGE, rows.length))} of ${count(rows.length)}${search.text ? ` that match “${search.text}”` : ''}`;
    back.disabled = shownPage === 0;
    on.disabled = shownPage + 1 >= pages;
    refill(details, describeFactor(data, data.factors[chosen()]));
  }

  function turnTo(page) { state.set({ page: page || null }); }
  function sortBy(column) {
    const now = sorting();
    const falls = now.column === column ? !now.falling : isNumber(column) && column !== 'rank';
    state.set({ sort: column === 'rank' && !falls ? null : `${column}.${falls ? 'falling' : 'rising'}`, page: null });
  }
  /** The page of the table that has the chosen factor, if it was chosen elsewhere. */
  function reveal() {
    const index = rows.findIndex((row) => row.factor.index === chosen());
    const page = index < 0 ? shownPage : Math.floor(index / PAGE);
    if (page !== shownPage) state.set({ page: page || null }, { passing: true });
  }

  const controls = [
    [choice('Rank by', 'ranking', RANKING_NAMES, 'score', (value) => state.set({ rank: short('score', value), sort: null, page: null })), ranking],
    [choice('Specificity', 'specificity', Object.keys(powers).map((name) => [name, name]), data.specificity, (value) => state.set({ specificity: short(data.specificity, value), page: null })), power],
    [choice('Show', 'kinds', KIND_NAMES, 'all', (value) => state.set({ kinds: short('all', value), page: null })), kinds]];
  function show(changed) {
    for (const [bar, value] of controls) bar.choose(value());
    if (!changed || ['rank', 'specificity', 'kinds', 'sort', 'q'].some((key) => changed.has(key))) sortRows();
    draw();
    const pageGiven = state.get('page') !== null && (!changed || changed.has('page'));
    if ((!changed || changed.has('factor')) && !pageGiven) reveal();
  }
  state.listen((changed) => {
    if (['rank', 'specificity', 'kinds', 'sort', 'q', 'factor', 'page'].some((key) => changed.has(key))) show(changed);
  });
  show();
  return section('factors', 'Where the variance comes from',
    `Look first at the factors with a red mark, at most ${data.k} that make up ${percent(data.threshold, 0)} and are more than chance. ${data.explained}. `
    + "Share: how much of the latency's variation moves with the factor. Contribution: how much the factor varies, whether the latency does or not.",
    el('div', { class: 'controls' }, controls.map(([bar]) => bar)),
    el('div', { class: 'table-and-details' },
      el('div', { class: 'table-side' },
        el('div', { class: 'scroll', role: 'region', 'aria-label': 'Table of factors', tabindex: 0 },
          el('table', { id: 'factor-table' }, el('thead', {}, el('tr', {}, heads)), body)), pager),
      details));
}
