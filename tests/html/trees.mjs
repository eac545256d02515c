// The variance tree, the flame graphs and the search.
import assert from 'node:assert/strict';
import { until } from './browser.mjs';
import { count, hash, quiet, textOf, texts } from './pages.mjs';

const widths = (page, chart) => page.evaluate(`[...document.querySelectorAll('#${chart} .node')].map((one) => one.style.width).join()`);

/** Of the frames with text, those whose text does not end with this unit. */
const without = async (page, chart, unit) => (await texts(page, `#${chart} .node`)).filter((text) => text && !unit.test(text));

export const trees = {
  async 'the tree is walked and zoomed by keyboard and pointer'(pages) {
    const page = await pages.open('whole.html');
    const focused = () => page.evaluate('document.activeElement.dataset?.node');
    const crumbs = () => count(page, '#tree .crumbs > *');
    await page.evaluate('document.querySelector("#tree-chart .node[tabindex=\\"0\\"]").focus()');
    await page.keyboard.press('Home');
    assert.equal(await focused(), '0');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), '1');
    await page.keyboard.press('ArrowDown');
    const child = await focused();
    assert.equal(child, '2');
    await page.keyboard.press('ArrowRight');
    assert.ok(Number(await focused()) > 2);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await focused(), child);
    assert.equal(await crumbs(), 1);
    await page.keyboard.press('Enter');
    assert.equal(await crumbs(), 3);
    assert.equal(await focused(), child, 'the focus stays where it was');
    assert.equal(await page.evaluate('document.querySelector("#tree-chart .node").dataset.node'), child, 'the zoomed node is on top');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.equal(await crumbs(), 1);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(), '0');
    assert.ok((await textOf(page, '#tree-details')).length > 50);
    await page.click('#tree-chart .node[aria-level="2"]');
    assert.equal(await crumbs(), 2);
    await page.click('#tree .crumbs button');
    assert.equal(await crumbs(), 1);
    await quiet(page);
  },

  async 'what a frame says follows the width'(pages) {
    const page = await pages.open('whole.html');
    const share = await widths(page, 'tree-chart');
    assert.deepEqual(await without(page, 'tree-chart', /\d %$/), []);
    await page.click('label[for=tree-measure-mean]');
    assert.notEqual(await widths(page, 'tree-chart'), share);
    assert.ok((await texts(page, '#tree-chart .node')).some((text) => /µs$/.test(text)));
    assert.deepEqual(await without(page, 'tree-chart', /\d (s|ms|µs|ns)$/), []);
    await page.click('label[for=tree-measure-tail]');
    const tail = JSON.parse(await textOf(page, '#data')).nodes.tail[1];
    assert.ok((await textOf(page, '#tree-chart .node[data-node="1"]')).endsWith(`${(100 * tail).toFixed(1)} %`));
    await quiet(page);
  },

  async 'two flame graphs: variance and mean time'(pages) {
    const page = await pages.open('whole.html');
    assert.deepEqual(await without(page, 'flame-variance', /\d %$/), []);
    assert.deepEqual(await without(page, 'flame-mean', /\d (s|ms|µs|ns)$/), []);
    assert.notEqual(await widths(page, 'flame-variance'), await widths(page, 'flame-mean'));
    const data = JSON.parse(await textOf(page, '#data'));
    const frames = await page.evaluate(`[...document.querySelectorAll('#flame-variance .node')].map((one) => [Number(one.dataset.node), one.className, one.getBoundingClientRect().width, one.offsetTop])`);
    const root = frames.find(([node]) => node === 0);
    for (const [node, style, width, top] of frames) {
      const kind = data.nodes.kinds[data.nodes.kind[node]];
      if (kind === 'wait' || kind === 'queue') assert.match(style, /nature-wait/);
      if (kind === 'blame') assert.match(style, /nature-blame/);
      assert.ok(Math.abs(width - root[2] * data.nodes.share[node]) < 2, `node ${node} is ${width} pixels wide`);
      assert.ok(top <= root[3], 'callers are below');
    }
    assert.ok(frames.some(([, style]) => style.includes('nature-work')));
    assert.ok(frames.some(([, style]) => style.includes('nature-blame')));
    await page.click('#flame-mean .node[aria-level="2"]');
    assert.equal(await page.evaluate('document.querySelector("#flame-variance .node").dataset.node'), '1', 'both are zoomed');
    assert.equal(await page.evaluate('document.querySelector("#tree-chart .node").dataset.node'), '1', 'and so is the tree');
    assert.equal((await hash(page)).zoom, '1');
    await page.hover('#flame-mean .node[aria-level="2"]');
    assert.equal(await count(page, '#flame-variance .node.beside'), 1);
    await quiet(page);
  },

  async 'the search filters factors and marks places'(pages) {
    const page = await pages.open('whole.html');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate('document.activeElement.id'), 'search');
    await page.keyboard.type('FLUSH');
    await until(page, 'document.querySelectorAll("#tree-chart .node.hit").length > 0');
    assert.ok((await texts(page, '#factor-table tbody th')).every((name) => name.includes('flush')));
    assert.ok(await count(page, '#flame-mean .node.hit') > 0 && await count(page, '#flame-mean .node.dim') > 0);
    assert.match(await textOf(page, '#findings'), /\d+ places: together [\d.]+ % of the variance/);
    assert.equal((await hash(page)).q, 'FLUSH');
    await page.keyboard.press('Enter');
    assert.equal((await hash(page)).at, 'factors');
    await page.focus('#search');
    await page.keyboard.press('Escape');
    assert.equal(await count(page, '.node.hit, .node.dim'), 0);
    const id = JSON.parse(await textOf(page, '#data')).timelines[0].id;
    await page.keyboard.type(id);
    await until(page, 'document.querySelector("#findings a.id")');
    await page.keyboard.press('Enter');
    assert.equal((await hash(page)).interval, id);
    await quiet(page);
  },

  async 'a tree of 80,000 nodes has only frames that are wide enough to see'(pages) {
    const page = await pages.open('wide.html');
    assert.ok(await page.evaluate('JSON.parse(document.getElementById("data").textContent).nodes.parent.length >= 80000'));
    for (const chart of ['tree-chart', 'flame-variance', 'flame-mean']) {
      const drawn = await page.evaluate(`[...document.querySelectorAll('#${chart} .node')].map((one) => one.getBoundingClientRect().width)`);
      assert.ok(drawn.length > 50 && drawn.length < 3000, `${drawn.length} frames`);
      assert.ok(Math.min(...drawn) > 2.5, 'none is narrower than 3 pixels');
      assert.ok(await count(page, `#${chart} .narrow`) > 0, 'runs of narrower ones are drawn as one');
    }
    assert.match(await textOf(page, '#tree-hidden'), /\d\d,\d{3} places are too narrow/);
    assert.ok(await count(page, '*') < 12_000, 'the document is small');
    const before = new Set(await page.evaluate('[...document.querySelectorAll("#tree-chart .node")].map((one) => one.dataset.node)'));
    await page.evaluate('[...document.querySelectorAll("#tree-chart .node[aria-level=\\"4\\"]")].sort((a, b) => a.offsetWidth - b.offsetWidth)[0].click()');
    const after = await page.evaluate('[...document.querySelectorAll("#tree-chart .node")].map((one) => one.dataset.node)');
    assert.ok(after.some((node) => !before.has(node)), 'zoomed in, the narrow ones are there');
    await quiet(page);
  },

  async 'a tree of 5,000 nodes that are all alike'(pages) {
    const page = await pages.open('large.html', { hash: '#width=mean' });
    assert.ok(await count(page, '#tree-chart .node') > 70, 'the functions of the first level');
    await page.click('#tree-chart .node[aria-level="2"]');
    assert.equal(await count(page, '#tree .crumbs > *'), 2);
    assert.ok(await count(page, '#tree-chart .node') > 30, 'zoomed in, the inner functions are there');
    await quiet(page);
  },
};
