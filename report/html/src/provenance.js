// Where, when and how the recording was made.
import { el, section } from './dom.js';

/** In local time, with the zone. */
function when(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : `${date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })} (${text})`;
}

/** One line for the top of the page. */
export const provenanceLine = ({ date, host, version }) => [date.slice(0, 10), host, version].filter(Boolean).join(' · ');

export function provenance({ provenance: made }) {
  const rows = [['date', made.date && when(made.date)], ['host', made.host],
    ['processors', made.processors ? `${made.processors}${made.processor ? ` × ${made.processor}` : ''}` : ''], ['kernel', made.kernel],
    ['compiler', made.compiler], ['program', made.version], ['commit', made.commit], ['command', made.command], ['vprof', made.vprof]]
    .filter(([, value]) => value);
  if (rows.length === 0) return null;
  return section('provenance', 'Recording', 'What it takes to record this again. Times of different machines or compilers do not compare.',
    el('dl', { class: 'provenance' }, rows.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))),
    made.configuration ? el('details', {}, el('summary', {}, 'Configuration (vprof.json)'),
      el('pre', { tabindex: 0 }, made.configuration.replace(/\n$/, '').split('\n').map((line) => el('span', { class: 'line' }, line, '\n')))) : null);
}
