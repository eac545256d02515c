// Two flame graphs side by side: where the variance comes from, and where the time goes. What is wide on the left and
// narrow on the right is rarely slow, but then very.
import { legend } from './charts.js';
import { choice, el, section } from './dom.js';
import { count, percent, time } from './format.js';
import { frameChart, hiddenNote } from './frames.js';
import { crumbs, placesShown, tipOf, zoomTo } from './icicle.js';
import { NATURES } from './model.js';
import { search } from './search.js';
import { state } from './state.js';

const NAMES = { work: 'work', wait: 'wait', blame: 'what another thread did during a wait', other: 'untracked' };
const SHADES = 3;

/** Neighbours of one colour differ in shade, and a function has the same one everywhere. */
const shade = (tree, i) => `nature-${NATURES[tree.nature[i]]} shade-${tree.name[i] % SHADES}`;

export function flame(data) {
  const { tree } = data;
  const hasTail = tree.tail[0] !== null;
  const isTail = () => hasTail && state.get('flame') === 'tail';
  const hidden = el('p', { class: 'hint', id: 'flame-hidden' });
  const trail = el('nav', { class: 'crumbs', 'aria-label': 'Flame graphs, zoomed to' });
  const status = el('p', { class: 'hint flame-status', id: 'flame-status', 'aria-live': 'polite' });

  function tell(i) {
    status.textContent = `${tree.nameOf(i)}: ${percent(tree.share[i])} of the variance, ${time(tree.mean[i])} of the mean, in ${count(tree.count[i])} intervals`;
  }
  const make = (id, label, values, text) => frameChart(data, {
    id, label, values, text, up: true, style: (i) => shade(tree, i), tip: (i) => tipOf(tree, i),
    zoom: (node, chosen) => zoomTo(tree, node, chosen),
    choose: (node) => { tell(node); state.set({ place: node || null }, { source: id, passing: true }); },
  });
  const variance = make('flame-variance', () => `Flame graph, width: ${isTail() ? 'tail share' : 'share of the variance'}`,
    () => (isTail() ? tree.tail : tree.share), (i) => `${tree.nameOf(i)}  ${percent(isTail() ? tree.tail[i] : tree.share[i])}`);
  const mean = make('flame-mean', () => 'Flame graph, width: mean time', () => tree.mean, (i) => `${tree.nameOf(i)}  ${time(tree.mean[i])}`);
  for (const [one, other] of [[variance, mean], [mean, variance]]) {
    one.onDrawn = () => { hidden.textContent = hiddenNote(Math.max(variance.hidden, mean.hidden)); };
    one.holder.addEventListener('pointerover', (event) => {
      const node = event.target.closest?.('.node');
      other.mark(node ? Number(node.dataset.node) : -1);
      if (node) tell(Number(node.dataset.node));
    });
    one.holder.addEventListener('pointerleave', () => other.mark(-1));
  }

  const title = el('h3', {}, '');
  const width = hasTail ? choice('Left', 'flame-measure', [['share', 'variance'], ['tail', 'tail']], 'share',
    (value) => state.set({ flame: value === 'tail' ? 'tail' : null })) : null;
  function show() {
    const { top, chosen } = placesShown(tree);
    title.textContent = isTail() ? 'What makes the slowest 1 % slow' : 'Where the variance comes from';
    width?.choose(isTail() ? 'tail' : 'share');
    variance.draw(top, chosen, search.hits);
    mean.draw(top, chosen, search.hits);
    trail.replaceChildren(...crumbs(data, top));
    tell(chosen);
  }
  state.listen((changed, source) => {
    if (source === 'flame-variance' || source === 'flame-mean') return;
    if (['zoom', 'place', 'flame', 'q'].some((key) => changed.has(key))) show();
  });
  show();
  const used = new Set(tree.nature);
  return section('flame', 'Flame graphs',
    'The callers are at the bottom. A place that is wide on the left and narrow on the right takes little time on average, but makes the latency vary.',
    el('div', { class: 'controls' }, width, legend(NATURES.filter((_, i) => used.has(i)).map((name) => [`nature-${name}`, NAMES[name]]))),
    trail,
    el('div', { class: 'beside-each-other' },
      el('div', {}, title, variance.holder), el('div', {}, el('h3', {}, 'Where the time goes on average'), mean.holder)),
    status, hidden);
}
