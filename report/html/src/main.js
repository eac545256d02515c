// Builds the page from its data, section by section.
import { el, visible } from './dom.js';
import { factors } from './factors.js';
import { histogram } from './histogram.js';
import { icicle } from './icicle.js';
import { load, selection } from './model.js';
import { overTime } from './overtime.js';
import { scatter } from './scatter.js';
import { caveats, iterations, sources } from './context.js';
import { summary } from './summary.js';
import { timelines } from './timeline.js';

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

function openForPrint() {
  window.addEventListener('beforeprint', () => document.querySelectorAll('#sources details').forEach((box) => { box.open = true; }));
  window.addEventListener('afterprint', () => selection.choose(selection.factor, 'print'));
}

function start() {
  const data = load();
  const sections = [summary(data), factors(data), icicle(data), histogram(data), scatter(data), overTime(data), timelines(data),
    sources(data), iterations(data), caveats(data)].filter(Boolean);
  const links = sections.map((part) => el('a', { href: `#${part.id}` }, part.querySelector('h2').textContent));
  document.title = `${visible(data.interval.name)}: VProfiler report`;
  document.getElementById('app').replaceChildren(
    el('a', { class: 'skip', href: '#factors' }, 'Skip to the factors'),
    el('header', {}, el('h1', {}, 'VProfiler', el('span', {}, data.title)), themeButton()),
    el('nav', { class: 'contents', 'aria-label': 'Contents' }, links),
    el('main', {}, sections));
  openForPrint();
  if (data.factors.length > 0) selection.choose(0, 'start');
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
