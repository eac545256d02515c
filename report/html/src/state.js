// What the page shows, in the fragment of its URL: a link to the page is a link to the view, and Back
// works. It also works for a page that is opened from a file.
//
//   #factor=3&zoom=17&interval=123456&q=lock&at=tree
const read = () => {
  const text = window.location.hash.slice(1);
  return text.includes('=') ? new URLSearchParams(text) : new URLSearchParams(text ? { at: text } : {});
};

let values = read();
const listeners = [];

/** Tells every view which keys have changed, and who changed them. */
function notify(before, source) {
  const names = new Set([...before.keys(), ...values.keys()]);
  const changed = new Set([...names].filter((name) => before.get(name) !== values.get(name)));
  if (changed.size > 0) for (const listener of listeners) listener(changed, source);
}

export const state = {
  get: (name, fallback = null) => values.get(name) ?? fallback,
  /** The value if it is one of `allowed`: a URL can say anything. */
  one: (name, allowed, fallback) => (allowed.includes(values.get(name)) ? values.get(name) : fallback),
  /** A whole number below `end`. */
  number(name, end, fallback) {
    const text = values.get(name) ?? '';
    return /^\d{1,9}$/.test(text) && Number(text) < end ? Number(text) : fallback;
  },
  /** Null removes a value. `passing`: no step for the Back button, as while something is dragged. */
  set(changes, { source = '', passing = false } = {}) {
    const before = new URLSearchParams(values);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') values.delete(name);
      else values.set(name, String(value));
    }
    if (before.toString() !== values.toString()) {
      const url = values.size > 0 ? `#${values}` : window.location.pathname + window.location.search;
      if (passing) window.history.replaceState(null, '', url);
      else window.history.pushState(null, '', url);
    }
    notify(before, source);
    if ('at' in changes) scrollTo(changes.at);
  },
  listen(listener) { listeners.push(listener); },
};

/** Brings a section into view, and the focus to its heading, so that Tab and screen readers go on from there. */
export function scrollTo(id) {
  const heading = id && document.getElementById(`${id}-title`);
  if (!heading) return;
  heading.setAttribute('tabindex', '-1');
  heading.focus({ preventScroll: true });
  heading.closest('section').scrollIntoView({ block: 'start' });
}

window.addEventListener('popstate', () => {
  const before = values;
  values = read();
  notify(before, 'url');
  if (values.get('at') !== before.get('at') || values.toString() === before.toString()) scrollTo(values.get('at'));
});
