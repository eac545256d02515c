// Builds the page from its data, section by section.
import { el, visible } from './dom.js';
import { factors } from './factors.js';
import { flame } from './flame.js';
import { histogram } from './histogram.js';
import { icicle } from './icicle.js';
import { intervals } from './intervals.js';
import { link } from './links.js';
import { load } from './model.js';
import { overTime } from './overtime.js';
import { provenance, provenanceLine } from './provenance.js';
import { scatter } from './scatter.js';
import { caveats, iterations } from './context.js';
import { searchBox } from './search.js';
import { sources } from './sources.js';
import { scrollTo, state } from './state.js';
import { summary } from './summary.js';

const THEMES = ['auto', 'light', 'dark'];

/** The theme chosen last time. Pages opened from a file may have no storage. */
function remembered(theme) {
  try {
    if (theme) window.localStorage.setItem('vprof-theme', theme);
    return window.localStorage.getItem('vprof-theme');
  } catch {
    return theme ?? null;
  }
}

function themeButton() {
  let theme = THEMES.includes(remembered()) ? remembered() : 'auto';
  const button = el('button', { type: 'button', id: 'theme', onclick: () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    remembered(theme);
    apply();
  } });
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `theme: ${theme}`;
  };
  apply();
  return button;
}

function start() {
  const data = load();
  const search = searchBox(data); // first: the views show what it has found
  const sections = [summary(data), factors(data), flame(data), icicle(data), histogram(data), scatter(data), overTime(data), intervals(data),
    sources(data), iterations(data), caveats(data), provenance(data)].filter(Boolean);
  const links = sections.map((part) => link({ at: part.id }, {}, part.querySelector('h2').textContent));
  document.title = `${visible(data.interval.name)}: VProfiler report`;
  document.getElementById('app').replaceChildren(
    el('a', { class: 'skip', href: '#factors', onclick: (event) => {
      event.preventDefault();
      document.getElementById('factors').querySelector('a, button, input').focus();
    } }, 'Skip to the factors'),
    el('header', {}, el('h1', {}, 'VProfiler', el('span', {}, data.title)), el('p', { class: 'made' }, provenanceLine(data.provenance)), search, themeButton()),
    el('nav', { class: 'contents', 'aria-label': 'Contents' }, links),
    el('main', {}, sections));
  document.documentElement.dataset.ready = Math.round(performance.now());
  // Two frames later the charts have their heights.
  if (state.get('at')) requestAnimationFrame(() => requestAnimationFrame(() => scrollTo(state.get('at'))));
}

start();
