// Single intervals: what leads to them, zoom and pan, and the URL that holds all this.
import assert from 'node:assert/strict';
import { until } from './browser.mjs';
import { count, hash, quiet, textOf, texts } from './pages.mjs';

const visible = (page) => page.evaluate('[...document.querySelectorAll("#timeline-chart .axis .tick text")].map((t) => t.textContent)');
const dataOf = async (page) => JSON.parse(await textOf(page, '#data'));

export const intervals = {
  async 'timelines change, and go from thread to thread'(pages) {
    const page = await pages.open('whole.html');
    const title = () => textOf(page, '.timeline-title strong');
    const first = await title();
    await page.click('#timelines [aria-label="Next interval"]');
    assert.notEqual(await title(), first);
    assert.equal(`#${(await hash(page)).interval}`, await title());
    await page.select('#interval', first.slice(1));
    assert.equal(await title(), first);
    await until(page, 'document.querySelectorAll("#timeline-chart .critical").length > 0');
    // The wait is on the request's thread, its blame on the other one.
    const { timelines, places } = await dataOf(page);
    const names = timelines[0].pieces.map(([, , thread, place]) => [timelines[0].threads[thread].name, places[place - 1][1]]);
    assert.ok(names.some(([thread]) => thread === 'flusher'));
    const wait = timelines[0].waits.find(([, , , name]) => name === 'wait(pthread_mutex_lock)');
    assert.equal(timelines[0].threads[wait[2]].name, '<b>worker</b>');
    await quiet(page);
  },

  async 'the steps of a piece are places in the tree'(pages) {
    const page = await pages.open('whole.html');
    const { places, nodes } = await dataOf(page);
    for (const [, name, kind, node] of places) {
      assert.ok(node >= 0, `${name} is in the tree`);
      if (kind === 'body') continue; // of a function without callees: the function
      assert.equal(nodes.kinds[nodes.kind[node]], kind);
      assert.equal(nodes.texts[nodes.name[node]], name);
    }
    await page.focus('#timeline-chart .cursor');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    const steps = await texts(page, '#piece-details .path a');
    assert.ok(steps.length >= 2);
    await page.evaluate('document.querySelectorAll("#piece-details .path a")[1].click()');
    assert.equal(await textOf(page, '#tree-details h3'), steps[1]);
    await quiet(page);
  },

  async 'a timeline zooms and pans, by buttons, keys and pointer'(pages) {
    const page = await pages.open('whole.html');
    const whole = await visible(page);
    await page.click('#timelines [aria-label="Zoom in"]');
    const { from, to } = await hash(page);
    const { latency_ns: latency } = (await dataOf(page)).timelines[0];
    assert.ok(Math.abs((Number(to) - Number(from)) - latency / 2) <= 2, `${from} to ${to} of ${latency}`);
    assert.notDeepEqual(await visible(page), whole);
    await page.click('#timelines [aria-label="Later"]');
    assert.ok(Number((await hash(page)).from) > Number(from));
    await page.focus('#timeline-chart .cursor');
    await page.keyboard.press('0');
    assert.equal((await hash(page)).from, undefined);
    assert.deepEqual(await visible(page), whole);
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await page.keyboard.press('a');
    const near = await hash(page);
    assert.ok(Math.abs(Number(near.to) - Number(near.from) - latency / 4) <= 2);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('f');
    const piece = await page.evaluate('document.activeElement.getAttribute("aria-valuenow")');
    assert.equal(piece, '2');
    const fitted = await hash(page);
    assert.ok(Number(fitted.to) - Number(fitted.from) < latency);
    const box = await (await page.$('#timeline-chart svg')).boundingBox();
    await page.keyboard.press('0');
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.keyboard.down('Control');
    await page.mouse.wheel({ deltaY: -400 });
    await page.keyboard.up('Control');
    await until(page, 'location.hash.includes("from=")');
    const wheel = await hash(page);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 120, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await until(page, `!location.hash.includes("from=${wheel.from}&")`);
    assert.ok(Number((await hash(page)).from) > Number(wheel.from), 'drawn to the left, later parts come');
    await quiet(page);
  },

  async 'points and columns open intervals, with or without a timeline'(pages) {
    const page = await pages.open('whole.html');
    const data = await dataOf(page);
    const whole = new Set(data.timelines.map((one) => one.id));
    const point = async (chart) => {
      const [x, y] = await page.evaluate(`(() => { const c = document.querySelector('#${chart} .dot:not(.worst)'); c.scrollIntoView({ block: 'center' });
        const b = c.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`);
      await page.mouse.click(x, y);
      return (await hash(page)).interval;
    };
    for (const chart of ['scatter-chart', 'overtime-chart']) {
      const id = await point(chart);
      assert.ok(data.intervals.some((one) => one[0] === id), `${id}`);
      assert.equal(await textOf(page, '.timeline-title strong'), `#${id}`);
      if (!whole.has(id)) {
        assert.match(await textOf(page, '#timeline'), new RegExp(`vprof timeline ${id}`));
        assert.ok(await count(page, '#interval-times tbody tr') > 0, 'the times of factors are known');
      }
    }
    const bar = await page.evaluate(`(() => { const c = [...document.querySelectorAll('#histogram-chart .bar.open')].at(-1); c.scrollIntoView({ block: 'center' });
      const b = c.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height - 2]; })()`);
    await page.mouse.click(...bar);
    assert.ok(whole.has((await hash(page)).interval), 'the slowest have timelines');
    await quiet(page);
  },

  async 'the URL holds the view: a link opens it, Back and Forward go through it'(pages) {
    const page = await pages.open('whole.html', { hash: '#factor=1&zoom=1&width=mean&rank=contribution&q=load&from=1000&to=9000&height=sqrt' });
    assert.equal(await page.evaluate('document.querySelector("#factor-table tr.chosen, #factor-table tr")?.dataset.factor !== undefined || document.querySelector("#factor-pager").textContent.includes("no factor")'), true);
    assert.equal(await page.evaluate('document.querySelector("#tree-chart .node").dataset.node'), '1');
    assert.equal(await page.evaluate('document.querySelector("[name=tree-measure]:checked").value'), 'mean');
    assert.equal(await page.evaluate('document.querySelector("[name=ranking]:checked").value'), 'contribution');
    assert.equal(await page.evaluate('document.querySelector("[name=histogram-height]:checked").value'), 'sqrt');
    assert.equal(await page.evaluate('document.getElementById("search").value'), 'load');
    const other = await pages.open('whole.html');
    const first = await page.evaluate('location.hash');
    await other.click('label[for=tree-measure-mean]');
    await other.click('#tree-chart .node[aria-level="2"]');
    assert.equal(await other.evaluate('document.querySelector("#tree-chart .node").dataset.node'), '1');
    await other.goBack();
    await until(other, 'document.querySelector("#tree-chart .node").dataset.node === "0"');
    assert.equal(await other.evaluate('document.querySelector("[name=tree-measure]:checked").value'), 'mean');
    await other.goBack();
    await until(other, 'document.querySelector("[name=tree-measure]:checked").value === "share"');
    await other.goForward();
    await until(other, 'document.querySelector("[name=tree-measure]:checked").value === "mean"');
    assert.equal(await page.evaluate('location.hash'), first);
    await quiet(page);
    await quiet(other);
  },

  async 'a URL may say anything'(pages) {
    const page = await pages.open('whole.html', { hash: '#factor=99999&zoom=-1&place=x&width=%3Cb%3E&page=1e9&sort=a.b.c&rank=constructor&interval=%3Cimg%3E&from=z&to=-5&at=nowhere&label=7' });
    assert.equal(await page.evaluate('document.querySelector("#tree-chart .node").dataset.node'), '0');
    assert.match(await textOf(page, '#timeline'), /knows no interval with this id/);
    await quiet(page);
  },
};
