// The table of factors: sorting, ranking, paging, and how it leads to the other views.
import assert from 'node:assert/strict';
import { until } from './browser.mjs';
import { count, hash, quiet, textOf, texts } from './pages.mjs';

const SHARE = 2;
const HEIGHT = 5;
const SCORE = 6;
const column = (page, n) => page.evaluate(`[...document.querySelectorAll('#factor-table tbody tr')].map((r) => r.cells[${n}].textContent)`);
const numbers = async (page, n) => (await column(page, n)).map((text) => parseFloat(text.replace(/,/g, '')));
const isSorted = (list, falling) => list.every((value, i) => i === 0 || (falling ? list[i - 1] >= value : list[i - 1] <= value));

export const factors = {
  async 'the factor table sorts, ranks and filters'(pages) {
    const page = await pages.open('whole.html', { width: 1600 }); // which has all columns
    const height = '#factor-table th[data-column=height] button';
    await page.click(height);
    assert.ok(isSorted(await numbers(page, HEIGHT), true), 'heights fall');
    assert.equal(await page.evaluate('document.querySelector("th[data-column=height]").getAttribute("aria-sort")'), 'descending');
    await page.click(height);
    assert.ok(isSorted(await numbers(page, HEIGHT), false), 'heights rise');
    assert.notEqual(new Set(await numbers(page, HEIGHT)).size, 1);
    await page.click('#factor-table th[data-column=name] button');
    assert.ok(isSorted((await texts(page, '#factor-table tbody th a')).map((name) => name.toLowerCase()), false));
    await page.click('label[for=ranking-share]');
    assert.ok(isSorted(await numbers(page, SHARE), true), 'ranked by share');
    assert.deepEqual(await numbers(page, 0), (await numbers(page, 0)).map((_, i) => i + 1));
    await page.click('label[for=ranking-score]');
    const quadratic = await numbers(page, SCORE);
    assert.ok(isSorted(quadratic, true));
    await page.click('label[for=specificity-linear]');
    const linear = await numbers(page, SCORE);
    assert.ok(isSorted(linear, true), 'ranked by linear score');
    await page.click('label[for=specificity-cubic]');
    const cubic = await numbers(page, SCORE);
    assert.ok(cubic[0] > quadratic[0] && quadratic[0] > linear[0], `${cubic[0]} > ${quadratic[0]} > ${linear[0]}`);
    const all = (await column(page, 0)).length;
    await page.click('label[for=kinds-covariance]');
    const pairs = await texts(page, '#factor-table tbody th');
    assert.ok(pairs.length > 0 && pairs.length < all && pairs.every((name) => name.includes(' with ')));
    await quiet(page);
  },

  async 'the page marks what the analysis marks, in every order'(pages) {
    const page = await pages.open('whole.html');
    const { factors: all, threshold, explained } = JSON.parse(await textOf(page, '#data'));
    const expected = all.flatMap((factor, i) => (factor.marked ? [i] : [])).sort();
    assert.ok(expected.length > 0 && all.some((factor, i) => !factor.marked && factor.weight >= threshold && i < expected.at(-1)), 'one of weight has no mark');
    const marked = async () => (await page.evaluate("[...document.querySelectorAll('#factor-table tr.marked')].map((r) => Number(r.dataset.factor))")).sort();
    for (const ranking of ['score', 'variance', 'contribution', 'share', 'tail_share']) {
      await page.click(`label[for=ranking-${ranking}]`);
      assert.deepEqual(await marked(), expected, ranking);
    }
    await page.click('#factor-table th[data-column=name] button');
    assert.deepEqual(await marked(), expected, 'by name');
    assert.deepEqual((await texts(page, '#factor-table tr:has(.unseen)')).length, expected.length, 'said to screen readers');
    assert.ok(explained.startsWith('The ') && (await textOf(page, '#factors > .hint')).includes(`${explained}.`), 'how far they go');
    await quiet(page);
  },

  async 'the page computes the scores of the analysis'(pages) {
    const page = await pages.open('whole.html');
    const [shown, known] = await page.evaluate(`[[...document.querySelectorAll('#factor-table tbody tr')].map((r) => [Number(r.dataset.factor), parseFloat(r.cells[${SCORE}].textContent)]),
      JSON.parse(document.getElementById('data').textContent).factors.map((f) => f.score)]`);
    assert.equal(shown.length, known.length);
    shown.forEach(([factor, score], i) => {
      assert.equal(factor, i, 'in the order of the analysis');
      assert.ok(Math.abs(score - known[factor]) <= 0.006 * Math.abs(known[factor]) + 0.5 * (known[factor] >= 100), `${score} for ${known[factor]}`);
    });
  },

  async 'choosing a factor updates every view'(pages) {
    const page = await pages.open('whole.html');
    const second = await page.evaluate('document.querySelectorAll("#factor-table tbody tr")[1].dataset.factor');
    const before = await page.evaluate('document.querySelector("#scatter-chart .dot").getAttribute("cx")');
    await page.click('#factor-table tbody tr:nth-child(2) th a');
    assert.equal(await page.evaluate('document.querySelector("#factor-table tr.chosen").dataset.factor'), second);
    assert.equal((await hash(page)).factor, second);
    assert.equal(await page.evaluate('document.getElementById("scatter-factor").value'), second);
    assert.notEqual(await page.evaluate('document.querySelector("#scatter-chart .dot").getAttribute("cx")'), before);
    assert.deepEqual(await page.evaluate('[...document.querySelectorAll("#sources details")].map((d) => d.open)'), [false, true, true]);
    assert.ok((await textOf(page, '#factor-details h3')).length > 0);
    assert.equal(await count(page, '#tree-chart .node.chosen'), 1);
    await quiet(page);
  },

  async '5,000 factors are shown a page at a time'(pages) {
    const page = await pages.open('wide.html');
    assert.equal(await count(page, '#factor-table tbody tr'), 25);
    assert.match(await textOf(page, '#factor-pager'), /1 to 25 of 5,000/);
    await page.click('#factor-pager [aria-label="Next page"]');
    assert.match(await textOf(page, '#factor-pager'), /26 to 50 of 5,000/);
    assert.equal((await hash(page)).page, '1');
    const chosen = await page.evaluate('document.querySelector("#factor-table tbody tr:nth-child(3)").dataset.factor');
    await page.click('#factor-table tbody tr:nth-child(3) th a');
    assert.equal(await page.evaluate('document.querySelector("#factor-table tr.chosen").dataset.factor'), chosen, 'the page of the table stays');
    const [table, details] = await page.evaluate('["#factor-table", "#factor-details"].map((s) => document.querySelector(s).getBoundingClientRect()).map((r) => [r.left, r.top, r.right])');
    assert.ok(details[0] >= table[2] && Math.abs(details[1] - table[1]) < 40, 'the details are beside the table');
    await page.evaluate('location.hash = "#factor=4999"');
    await until(page, 'document.querySelector("#factor-table tr.chosen")?.dataset.factor === "4999"');
    assert.ok(Number((await hash(page)).page) > 1, 'the page that has the chosen factor');
    await quiet(page);
  },

  async 'a factor whose times the page does not hold is not plotted as 0'(pages) {
    const page = await pages.open('wide.html', { hash: '#factor=3000' });
    assert.match(await textOf(page, '#scatter-note'), /is none of them/);
    assert.notEqual(await page.evaluate('document.getElementById("scatter-factor").value'), '3000');
  },

  async 'the places of a factor, and its intervals, are links'(pages) {
    const page = await pages.open('whole.html');
    const tree = JSON.parse(await textOf(page, '#data')).nodes;
    const last = await page.evaluate('[...document.querySelectorAll("#factor-details .instances li:first-child a")].at(-1).textContent');
    await page.evaluate('[...document.querySelectorAll("#factor-details .instances li:first-child a")].at(-1).click()');
    const { place, at } = await hash(page);
    assert.equal(at, 'tree');
    assert.equal(tree.texts[tree.name[Number(place)]].slice(0, 5), last.slice(0, 5));
    assert.equal(await textOf(page, '#tree-details h3'), last);
    const ids = await texts(page, '#factor-details .exemplars a.id');
    assert.ok(ids.length >= 4, `${ids}`);
    await page.click('#factor-details .exemplars a.id');
    assert.equal(await textOf(page, '.timeline-title strong'), ids[0]);
    // The timelines of the listed intervals are in the page.
    await until(page, 'document.querySelectorAll("#timeline-chart .critical").length > 0');
    await quiet(page);
  },
};
