// Opens the pages of the fixture, and looks at them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { open as openUrl, until } from './browser.mjs';

/** What the tests share: a browser, and the directory that holds the pages. */
export class Pages {
  constructor(browser, directory) {
    Object.assign(this, { browser, directory, opened: [] });
  }

  /** Opens a page and waits until it is drawn. `hash`: the fragment of its URL, with the #. */
  async open(name, { hash = '', ...options } = {}) {
    const page = await openUrl(this.browser, pathToFileURL(join(this.directory, name)).href + hash, options);
    this.opened.push(page);
    await until(page, 'document.documentElement?.dataset.ready');
    await until(page, 'document.querySelectorAll("#tree-chart .node").length > 0');
    return page;
  }

  async close() {
    for (const page of this.opened.splice(0)) await page.close();
  }
}

/** The page reported no error, made no request, and let no name become markup. */
export async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.requests.filter((url) => !url.startsWith('file:') && !url.startsWith('data:')), []);
  assert.equal(await page.evaluate('window.hacked'), undefined, 'a name became markup');
  assert.equal(await page.evaluate('document.querySelectorAll("img, iframe, object, b, i").length'), 0, 'a name became an element');
}

export const texts = (page, selector) => page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.textContent)`);
export const count = (page, selector) => page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
/** The text of an element, once it matches. */
export async function textOf(page, selector) {
  return page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent`);
}
export const hash = (page) => page.evaluate('Object.fromEntries(new URLSearchParams(location.hash.slice(1)))');
