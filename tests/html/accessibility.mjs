// axe-core in every view and both themes, keyboard, contrast of text, narrow windows, paper.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { media } from './browser.mjs';
import { count, hash, quiet, textOf } from './pages.mjs';

const axe = readFileSync(createRequire(join(process.cwd(), 'package.json')).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * All rules of axe-core, those on trial as well: names that differ from what is visible are one of them. Or only those
 * about colors: the others find in the dark theme what they find in the light one, since only style sheets know of it.
 */
async function violations(page, { colorsOnly }) {
  if (!await page.evaluate('Boolean(window.axe)')) await page.evaluate(axe);
  const rules = colorsOnly
    ? "runOnly: axe.getRules(['cat.color']).filter(({ tags }) => !tags.includes('wcag2aaa')).map(({ ruleId }) => ruleId)"
    : "rules: Object.fromEntries(axe.getRules(['experimental']).map(({ ruleId }) => [ruleId, { enabled: true }]))";
  const found = await page.evaluate(`axe.run(document, { resultTypes: ['violations'], ${rules} })`);
  return found.violations.map(({ id, help, nodes }) =>
    `${id}: ${help}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${(node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? ''}`).join(' | ')}`);
}

/** Views of each page that differ in what they show: fragments of the URL. */
const VIEWS = {
  'whole.html': ['', '#factor=1&rank=variance&sort=name.rising', '#zoom=1&place=2&width=mean&flame=tail', '#q=flush', '#q=nothing+has+this+name',
    '#interval=123456789', '#at=timelines&from=1000&to=20000', '#kinds=covariance&scatter=log&overtime=linear&height=sqrt&label=1'],
  'wide.html': ['#page=7&q=function_1'],
  'bare.html': [''],
};

export const accessibility = {
  async 'axe-core finds nothing in any view, light or dark'(pages) {
    for (const [name, views] of Object.entries(VIEWS)) {
      for (const [i, view] of views.entries()) {
        const page = await pages.open(name, { hash: view, width: i === 1 ? 420 : 1280 });
        await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
        await page.evaluate('document.querySelector("#timeline-chart .cursor")?.focus()');
        // All points are alike, and axe-core takes a millisecond for each.
        await page.evaluate('document.querySelectorAll(".dot").forEach((dot, i) => { if (i % 50 !== 0) dot.remove(); })');
        if (view.includes('q=')) await page.focus('#search'); // which opens what the search has found
        for (const scheme of ['light', 'dark']) {
          await media(page, scheme);
          assert.deepEqual(await violations(page, { colorsOnly: scheme === 'dark' }), [], `${name}${view} ${scheme}`);
        }
        await pages.close();
      }
    }
  },

  async 'everything can be reached with the Tab key'(pages) {
    const page = await pages.open('whole.html');
    const reached = new Set();
    for (let i = 0; i < 260; ++i) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(`(() => { const e = document.activeElement; return e.id === 'search' ? 'search' : e.closest('section')?.id ?? e.id ?? e.tagName; })()`));
    }
    for (const place of ['search', 'theme', 'factors', 'flame', 'tree', 'histogram', 'scatter', 'overtime', 'timelines', 'sources', 'provenance']) {
      assert.ok(reached.has(place), `${place} is not in ${[...reached]}`);
    }
  },

  async 'charts are visited with the arrow keys, and open intervals'(pages) {
    for (const id of ['histogram-chart', 'scatter-chart', 'overtime-chart']) {
      const page = await pages.open('whole.html');
      await page.focus(`#${id} .cursor`);
      const first = await page.evaluate('document.activeElement.getAttribute("aria-valuetext")');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      const third = await page.evaluate('document.activeElement.getAttribute("aria-valuetext")');
      assert.notEqual(third, first, id);
      assert.equal(await count(page, `#${id} .ring`), 1);
      await page.keyboard.press('End');
      assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-valuenow") === document.activeElement.getAttribute("aria-valuemax")'), true);
      await page.keyboard.press('Enter');
      const { interval, at } = await hash(page);
      assert.match(interval, /^\d+$/);
      assert.equal(at, 'timelines');
      assert.equal(await textOf(page, '.timeline-title strong'), `#${interval}`);
      await quiet(page);
    }
  },

  async 'light, dark and paper'(pages) {
    const page = await pages.open('whole.html', { dark: true });
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    assert.equal(await background(), 'rgb(22, 24, 27)');
    await media(page, 'light');
    assert.equal(await background(), 'rgb(251, 251, 250)');
    await page.click('#theme');
    await page.click('#theme');
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
    assert.equal(await background(), 'rgb(22, 24, 27)');
    await media(page, 'dark', 'print');
    assert.equal(await background(), 'rgb(255, 255, 255)', 'paper is white');
    assert.equal(await page.evaluate('getComputedStyle(document.querySelector("#theme")).display'), 'none');
    await media(page, 'light');
    assert.ok((await page.pdf({ printBackground: true, timeout: 0 })).length > 20_000);
    await quiet(page);
  },

  async 'text of charts has enough contrast in both themes'(pages) { // which axe-core does not look at
    for (const dark of [false, true]) {
      const page = await pages.open('whole.html', { dark });
      const worst = await page.evaluate(`(() => {
        const light = (color) => { const [r, g, b] = color.match(/[\\d.]+/g).map((v) => { const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
        const style = getComputedStyle(document.documentElement);
        const probe = document.body.appendChild(document.createElement('span'));
        const color = (name) => { probe.style.color = style.getPropertyValue(name); return getComputedStyle(probe).color; };
        const under = { '--node-text': ['function', 'body', 'wait', 'blame', 'queue', 'preempted', 'untracked', 'parked', 'work', 'waiting', 'blamed', 'other'].map((k) => '--' + k),
          '--text': ['--card', '--page', '--chosen'], '--faint': ['--card', '--page', '--chosen', '--grid'], '--mark': ['--card'], '--accent': ['--card', '--page', '--chosen'], '--path-text': ['--path'] };
        const found = Object.entries(under).flatMap(([text, grounds]) => grounds.map((ground) => [ratio(color(text), color(ground)), text + ' on ' + ground])).sort((a, b) => a[0] - b[0])[0];
        probe.remove();
        return found; })()`);
      assert.ok(worst[0] >= 4.5, `${worst} ${dark ? 'dark' : 'light'}`);
    }
  },

  async 'no page scrolls sideways, down to 420 pixels'(pages) {
    for (const name of ['whole.html', 'large.html', 'wide.html', 'bare.html']) {
      for (const width of name === 'wide.html' ? [420, 2200] : [420, 480, 760, 1280, 2200]) {
        const page = await pages.open(name, { width });
        await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${name} at ${width} pixels`);
        await pages.close();
      }
    }
  },
};
