// One search box for everything that has a name: it filters the factors, marks places in the trees, and finds
// intervals by their id.
import { el, refill } from './dom.js';
import { count, percent, time } from './format.js';
import { factorLink, intervalLink, nodeLink } from './links.js';
import { factorName } from './model.js';
import { state } from './state.js';

/** What the search has found. `hits`: 1 for each node of the tree whose name or place matches; null: no search. */
export const search = { text: '', hits: null, places: 0, share: 0, mean: 0, first: [] };

const MOST_SHOWN = 5;

export const matchesFactor = (factor) => search.text === ''
  || factorName(factor).toLowerCase().includes(search.text) || factor.definition.toLowerCase().includes(search.text);

function find(tree, text) {
  Object.assign(search, { text: text.trim().toLowerCase(), hits: null, places: 0, share: 0, mean: 0, first: [] });
  if (search.text === '') return;
  const matches = tree.texts.map((one) => one.toLowerCase().includes(search.text));
  search.hits = new Uint8Array(tree.size);
  let within = 0; // end of the outermost node found: what is below it is in its time already
  for (let i = 0; i < tree.size; ++i) {
    if (!matches[tree.name[i]] && !matches[tree.site[i]] && !matches[tree.definition[i]]) continue;
    search.hits[i] = 1;
    search.places += 1;
    if (i < within) continue;
    within = tree.end[i];
    search.share += tree.share[i];
    search.mean += tree.mean[i];
    search.first.push(i);
  }
  search.first.sort((a, b) => tree.share[b] - tree.share[a]);
}

function findings(data) {
  if (search.text === '') return null;
  const factors = data.factors.filter(matchesFactor);
  const id = search.text.replace(/^#/, '');
  const intervals = /^\d{3,20}$/.test(id)
    ? [...new Set([...data.timelineOf.keys(), ...data.intervalOf.keys()])].filter((one) => one.startsWith(id)) : [];
  const list = (title, items) => (items.length > 0 ? [el('p', { class: 'found' }, title), el('ul', {}, items.slice(0, MOST_SHOWN).map((item) => el('li', {}, item)))] : null);
  return [
    el('p', {}, search.places > 0
      ? `${count(search.places)} places: together ${percent(search.share)} of the variance, ${time(search.mean)} of the mean` : 'no place in the tree'),
    list(`${count(factors.length)} factors`, factors.slice(0, MOST_SHOWN).map((factor) => [factorLink(factor), ` ${percent(factor.share)}`])),
    list('Widest places', search.first.slice(0, MOST_SHOWN).map((node) => [nodeLink(data, node), ` ${percent(data.tree.share[node])}`])),
    list(`${count(intervals.length)} intervals`, intervals.slice(0, MOST_SHOWN).map((one) => intervalLink(data, one))),
  ];
}

export function searchBox(data) {
  const box = el('input', { type: 'search', id: 'search', placeholder: 'function, file or interval id', autocomplete: 'off', spellcheck: 'false',
    'aria-keyshortcuts': '/', 'aria-controls': 'findings' });
  const found = el('div', { id: 'findings', role: 'region', 'aria-label': 'Found', 'aria-live': 'polite', hidden: true });
  const holder = el('div', { class: 'search', role: 'search' }, el('label', { for: 'search' }, 'Search'), box, found);
  let timer = 0;

  function show() {
    found.hidden = search.text === '' || !holder.contains(document.activeElement);
    refill(found, found.hidden ? null : findings(data));
  }
  box.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => { state.set({ q: box.value.trim(), page: null }, { passing: true }); show(); }, 120);
  });
  box.addEventListener('focus', show);
  holder.addEventListener('focusout', (event) => { if (!holder.contains(event.relatedTarget)) found.hidden = true; });
  found.addEventListener('pointerdown', (event) => event.preventDefault()); // a click keeps the focus in the box
  found.addEventListener('click', (event) => { if (event.target.closest('a')) found.hidden = true; });
  holder.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      box.value = '';
      state.set({ q: null, page: null });
      show();
    } else if (event.key === 'Enter' && event.target === box) {
      clearTimeout(timer);
      state.set({ q: box.value.trim(), page: null });
      show();
      found.querySelector('a')?.click();
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
  const update = () => {
    find(data.tree, state.get('q', ''));
    if (document.activeElement !== box) box.value = state.get('q', '');
  };
  state.listen((changed) => { if (changed.has('q')) update(); }); // before the views, which show what it has found
  update();
  return holder;
}
