// The variance tree: the root on top, its parts below.
import { legend } from './charts.js';
import { choice, el, refill, section } from './dom.js';
import { count, percent, time } from './format.js';
import { frameChart, hiddenNote } from './frames.js';
import { factorLink, nodeLink, pathLinks } from './links.js';
import { KINDS } from './model.js';
import { search } from './search.js';
import { state } from './state.js';

export const MEASURES = {
  share: { name: 'share of the variance', of: (tree) => tree.share, text: (tree, i) => percent(tree.share[i]) },
  tail: { name: 'tail share', of: (tree) => tree.tail, text: (tree, i) => percent(tree.tail[i]) },
  mean: { name: 'mean time', of: (tree) => tree.mean, text: (tree, i) => time(tree.mean[i]) },
};

/** The place that is looked at, and that on top: both from the URL. */
export function placesShown(tree) {
  const top = state.number('zoom', tree.size, 0);
  const chosen = state.number('place', tree.size, top);
  return { top, chosen: tree.isWithin(chosen, top) ? chosen : top };
}

/** A click or Enter: goes into a place, or shows a leaf within what is around it. */
export function zoomTo(tree, node, chosen = node) {
  const isLeaf = tree.end[node] === node + 1;
  state.set({ zoom: (isLeaf && node > 0 ? tree.parent[node] : node) || null, place: chosen || null });
}

export function tipOf(tree, i) {
  return [tree.nameOf(i), `${KINDS[tree.kindOf(i)]}, share ${percent(tree.share[i])}, tail share ${percent(tree.tail[i])}`,
    `contribution ${percent(tree.contributionOf(i))}, mean ${time(tree.mean[i])}`, tree.siteOf(i) || tree.definitionOf(i)];
}

/** From the root to the place on top, each a way back. */
export function crumbs(data, top) {
  return data.tree.pathTo(top).map((node) => (node === top
    ? el('span', { 'aria-current': 'true' }, data.tree.nameOf(node))
    : el('button', { type: 'button', onclick: () => zoomTo(data.tree, node) }, data.tree.nameOf(node))));
}

function covariances(data, node) {
  const known = data.tree.pairsOf.get(node);
  if (!known || known.pairs.length === 0) return null;
  return el('table', { class: 'plain pairs' }, el('caption', {}, 'Children that vary together'),
    el('thead', {}, el('tr', {}, ['one', 'other', '2·Cov'].map((name, i) => el('th', { scope: 'col', class: i === 2 ? 'number' : '' }, name)))),
    el('tbody', {}, known.pairs.map(([a, b, contribution]) => el('tr', {},
      el('td', {}, nodeLink(data, a)), el('td', {}, nodeLink(data, b)), el('td', { class: 'number' }, percent(contribution))))),
    known.more ? el('tfoot', {}, el('tr', {}, el('td', { colspan: 3 }, `${count(known.more)} smaller ones`))) : null);
}

function describe(data, node) {
  const { tree } = data;
  const parts = [['contribution', tree.contributionOf(node)], ['share', tree.share[node]], ['tail share', tree.tail[node]],
    ['explained by work', tree.work[node]], ['explained by label', tree.by_label[node]]].filter(([, value]) => Math.abs(value) >= 0.01);
  const facts = [['mean', time(tree.mean[node])], ['std. deviation', time(tree.deviation[node])],
    ...parts.map(([name, value]) => [name, percent(value)]), ['intervals', count(tree.count[node])]];
  const [site, definition] = [tree.siteOf(node), tree.definitionOf(node)];
  const factor = data.factorOfNode.get(node);
  return [
    el('h3', {}, el('span', { class: `swatch kind-${tree.kindOf(node)}` }), tree.nameOf(node)),
    el('p', { class: 'path' }, pathLinks(data, node)),
    el('p', { class: 'hint' }, KINDS[tree.kindOf(node)], definition ? ` · ${definition}` : '', site && site !== definition ? ` · called at ${site}` : ''),
    el('dl', { class: 'facts' }, facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))),
    factor ? el('p', {}, factorLink(factor, `Factor ${factor.rank}`), `, ${count(factor.nodes.length)} ${factor.nodes.length === 1 ? 'place' : 'places'}`) : null,
    covariances(data, node)];
}

export function icicle(data) {
  const { tree } = data;
  const measures = Object.keys(MEASURES).filter((key) => key !== 'tail' || tree.tail[0] !== null);
  const measure = () => MEASURES[state.one('width', measures, 'share')];
  const details = el('div', { class: 'details', id: 'tree-details', 'aria-live': 'polite' });
  const trail = el('nav', { class: 'crumbs', 'aria-label': 'Zoomed to' });
  const hidden = el('p', { class: 'hint', id: 'tree-hidden' });
  const places = () => new Set(data.factors[state.number('factor', data.factors.length, 0)]?.nodes);
  let marked = places();
  const chart = frameChart(data, {
    id: 'tree-chart', label: () => `Variance tree by ${measure().name}`, values: () => measure().of(tree),
    text: (i) => `${tree.nameOf(i)}  ${measure().text(tree, i)}`,
    style: (i) => `kind-${tree.kindOf(i)}${marked.has(i) ? ' chosen' : ''}`,
    tip: (i) => tipOf(tree, i), zoom: (node, chosen) => zoomTo(tree, node, chosen),
    choose: (node) => state.set({ place: node || null }, { source: 'tree', passing: true }),
  });
  chart.onDrawn = () => { hidden.textContent = hiddenNote(chart.hidden); };

  const width = choice('Width', 'tree-measure', measures.map((key) => [key, MEASURES[key].name]), 'share', (value) => state.set({ width: value === 'share' ? null : value }));
  function show() {
    const { top, chosen } = placesShown(tree);
    chart.draw(top, chosen, search.hits);
    trail.replaceChildren(...crumbs(data, top));
    width.choose(state.one('width', measures, 'share'));
    refill(details, describe(data, chosen));
  }
  state.listen((changed, source) => {
    if (changed.has('factor')) marked = places();
    if (source === 'tree') refill(details, describe(data, placesShown(tree).chosen));
    else if (['zoom', 'place', 'width', 'q', 'factor'].some((key) => changed.has(key))) show();
  });
  show();
  const used = new Set(tree.kind.map((kind) => tree.kinds[kind]));
  return section('tree', 'Variance tree',
    'Each place is the sum of those below it. Arrow keys move, Enter or a click zooms in, Escape zooms out. Outlined: the places of the chosen factor.',
    el('div', { class: 'controls' }, width),
    legend(Object.entries(KINDS).filter(([kind]) => used.has(kind)).map(([kind, name]) => [`kind-${kind}`, name])),
    trail, chart.holder, hidden, details);
}
