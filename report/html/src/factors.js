// The table of factors, and details of the selected one.
import { choice, el, refill, section } from './dom.js';
import { margin, percent, score, time } from './format.js';
import { RANKINGS, factorName, selection, weight } from './model.js';

const COLUMNS = [
  ['rank', '#', true, (row) => row.rank],
  ['name', 'factor', false, (row) => factorName(row.factor).toLowerCase()],
  ['contribution', 'contribution', true, (row) => row.factor.contribution],
  ['share', 'share', true, (row) => row.factor.share],
  ['tail_share', 'tail share', true, (row) => row.factor.tail_share ?? -Infinity],
  ['height', 'height', true, (row) => row.factor.height],
  ['score', 'score', true, (row) => row.score],
  ['variance_rank', "papers' #", true, (row) => row.varianceRank || Infinity],
  ['status', 'status', false, (row) => row.factor.status],
];

/** A name that may be broken after each `::`. */
const breakable = (name) => name.split(/(?<=::)/).map((part, i) => [i ? el('wbr') : null, part]);

export function factors(data) {
  const powers = Object.fromEntries(data.specificity_rules);
  let ranking = 'score';
  let power = data.specificity;
  let kinds = 'all';
  let sorted = { column: 'rank', falling: false };
  const body = el('tbody');
  const heads = COLUMNS.map(([key, name, number]) => el('th', { scope: 'col', class: number ? 'number' : '', 'data-column': key },
    el('button', { type: 'button', title: key === 'variance_rank' ? "rank by the papers' score, which takes variances" : null, onclick: () => sort(key) }, name)));
  const chosen = el('div', { class: 'details', id: 'factor-details', 'aria-live': 'polite' });

  function rows() {
    const byVariance = data.factors.filter((factor) => factor.variance_rank).sort((a, b) =>
      RANKINGS.variance(data, b, powers[power]) - RANKINGS.variance(data, a, powers[power]) || a.variance_rank - b.variance_rank);
    const all = data.factors.map((factor) => ({ factor,
      score: RANKINGS[ranking === 'variance' ? ranking : 'score'](data, factor, powers[power]),
      varianceRank: byVariance.indexOf(factor) + 1 }));
    const by = (row) => RANKINGS[ranking](data, row.factor, powers[power]);
    all.sort((a, b) => by(b) - by(a) || a.factor.rank - b.factor.rank);
    let asked = 0;
    all.forEach((row, i) => {
      row.rank = i + 1;
      row.asked = asked < data.k && weight(row.factor, ranking) >= data.threshold;
      asked += row.asked ? 1 : 0;
    });
    const value = COLUMNS.find(([key]) => key === sorted.column)[3];
    const order = (a, b) => { const [x, y] = [value(a), value(b)]; return x < y ? -1 : Number(x > y); };
    return all.filter((row) => kinds === 'all' || row.factor.kind === kinds)
      .sort((a, b) => (sorted.falling ? order(b, a) : order(a, b)) || a.rank - b.rank);
  }

  function row({ factor, rank, score: points, asked, varianceRank }) {
    const width = `${Math.min(100, Math.max(0, 100 * factor.share)).toFixed(1)}%`;
    return el('tr', { 'data-factor': factor.index, class: `${asked ? 'asked' : ''}${factor.index === selection.factor ? ' chosen' : ''}` },
      el('td', { class: 'number' }, rank),
      el('th', { scope: 'row' }, el('button', { type: 'button', class: 'link', onclick: () => selection.choose(factor.index, 'table') },
        factor.functions.map((name, i) => [i ? el('span', { class: 'with' }, ' with ') : null, breakable(name)])),
      factor.definition ? el('small', {}, factor.definition) : null),
      el('td', { class: 'number' }, percent(factor.contribution), ' ', el('small', {}, margin(factor.ci95, factor.contribution))),
      el('td', { class: 'number part' }, el('span', { class: `part-bar ${factor.kind}`, style: `width:${width}` }),
        el('span', {}, percent(factor.share), ' ', el('small', {}, factor.significant ? margin(factor.share_ci95, factor.share) : 'may be chance'))),
      el('td', { class: 'number' }, percent(factor.tail_share)),
      el('td', { class: 'number' }, factor.height),
      el('td', { class: 'number' }, score(points)),
      el('td', { class: 'number' }, varianceRank || '–'),
      el('td', {}, el('span', { class: `status status-${factor.status}` }, factor.status)));
  }

  function redraw() {
    body.replaceChildren(...rows().map(row));
    heads.forEach((head) => head.setAttribute('aria-sort',
      head.dataset.column !== sorted.column ? 'none' : sorted.falling ? 'descending' : 'ascending'));
  }

  function sort(column) {
    const number = COLUMNS.find(([key]) => key === column)[2] && column !== 'rank';
    sorted = { column, falling: sorted.column === column ? !sorted.falling : number };
    redraw();
  }

  function describe(index) {
    const factor = data.factors[index];
    const ids = (list) => list.map((one, i) => [i ? ', ' : '', el('code', {}, one.id), ` (${one.key !== '0' ? `key ${one.key}, ` : ''}${time(one.ns)} of ${time(one.latency_ns)})`]);
    refill(chosen,
      el('h3', {}, factorName(factor)),
      factor.kind === 'covariance'
        ? el('p', { class: 'hint' }, 'These two are slow (or fast) in the same intervals. Look for what both depend on.') : null,
      Math.abs(factor.work_share) >= 0.01 || Math.abs(factor.label_share) >= 0.01
        ? el('p', {}, `Declared work explains ${percent(factor.work_share)} of the variance here and the label ${percent(factor.label_share)}: `
          + 'the requests ask for that much.') : null,
      el('h4', {}, 'Where'),
      el('ol', { class: 'instances' }, factor.instances.slice(0, 12).map((instance) => el('li', { class: instance.dominated ? 'dominated' : '' },
        el('span', { class: 'path' }, instance.path.join(' › ')), instance.site ? el('small', {}, ` at ${instance.site}`) : null,
        el('strong', {}, ` ${percent(data.ranking === 'share' && factor.kind === 'variance' ? instance.share : instance.contribution)}`),
        instance.nested ? el('small', {}, ' within another place of the function') : null, instance.dominated ? el('small', {}, ' explained by a callee') : null))),
      factor.instances.length > 12 ? el('p', { class: 'hint' }, `${factor.instances.length - 12} more places`) : null,
      factor.worst.length ? el('p', {}, 'Worst: ', ids(factor.worst)) : null,
      factor.typical.length ? el('p', {}, 'Typical: ', ids(factor.typical)) : null);
  }

  if (data.factors.length === 0) {
    return section('factors', 'Where the variance comes from', 'No factor reaches 1 % of the variance.');
  }
  selection.listen((index) => { redraw(); describe(index); });
  redraw();
  describe(0);
  return section('factors', 'Where the variance comes from',
    `Look first at the factors with a red mark: the first ${data.k} that make up ${percent(data.threshold, 0)} of the variance. `
    + "Share: how much of the latency's variation moves with the factor. Contribution: how much the factor varies, whether the latency does or not.",
    el('div', { class: 'controls' },
      choice('Rank by', 'ranking', [['score', 'score'], ['variance', "papers' score"], ['contribution', 'contribution'], ['share', 'share'], ['tail_share', 'tail share']], ranking,
        (value) => { ranking = value; sorted = { column: 'rank', falling: false }; redraw(); }),
      choice('Specificity', 'specificity', Object.keys(powers).map((name) => [name, name]), power, (value) => { power = value; redraw(); }),
      choice('Show', 'kinds', [['all', 'all'], ['variance', 'variances'], ['covariance', 'covariances']], kinds, (value) => { kinds = value; redraw(); })),
    el('div', { class: 'scroll' }, el('table', { id: 'factor-table' }, el('thead', {}, el('tr', {}, heads)), body)),
    chosen);
}
