// A browser without a window, driven over its debugging pipe: commands and answers are JSON, each ended by a zero byte.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Browser {
  static async start(program) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), 'vprof-browser-'));
    const options = ['--headless=new', '--remote-debugging-pipe', `--user-data-dir=${browser.profile}`, '--no-first-run',
      '--disable-gpu', '--disable-dev-shm-usage', '--disable-extensions', '--disable-background-networking', '--hide-scrollbars',
      ...(process.getuid() === 0 ? ['--no-sandbox'] : [])]; // its sandbox refuses root
    browser.child = spawn(program, options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    browser.waiting = new Map();
    browser.listeners = [];
    browser.next = 0;
    let rest = '';
    browser.child.stdio[4].on('data', (bytes) => {
      const parts = (rest + bytes).split('\0');
      rest = parts.pop();
      for (const part of parts) browser.receive(JSON.parse(part));
    });
    browser.child.on('exit', (code) => {
      for (const { reject } of browser.waiting.values()) reject(new Error(`the browser ended with ${code}`));
    });
    return browser;
  }

  receive(message) {
    if (message.id === undefined) {
      for (const listener of this.listeners) listener(message);
      return;
    }
    const { resolve, reject } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.next;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  async open(url, { width = 1280, height = 900, dark = false } = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await page.prepare(width, height, dark);
    await page.send('Page.navigate', { url });
    return page;
  }

  async close() {
    this.child.removeAllListeners('exit');
    const gone = new Promise((resolve) => { this.child.on('exit', resolve); });
    this.send('Browser.close').catch(() => {});
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 5000);
    await gone;
    clearTimeout(timer);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target, complaints: [], requests: [] });
    browser.listeners.push((message) => {
      if (message.sessionId !== session) return;
      const { method, params } = message;
      if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === 'Runtime.consoleAPICalled') this.complaints.push(`console: ${params.args.map((a) => a.value).join(' ')}`);
      if (method === 'Log.entryAdded') this.complaints.push(`log: ${params.entry.text}`);
      if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    });
  }

  send(method, params) { return this.browser.send(method, params, this.session); }

  async prepare(width, height, dark) {
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await this.media(dark ? 'dark' : 'light');
  }

  media(scheme, type = 'screen') {
    return this.send('Emulation.setEmulatedMedia', { media: type, features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }

  async run(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  async until(expression, seconds = 30) {
    const end = Date.now() + 1000 * seconds;
    for (;;) {
      const value = await this.run(expression);
      if (value) return value;
      if (Date.now() > end) throw new Error(`in ${seconds} s it did not become true: ${expression}\n${this.complaints.join('\n')}`);
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  }

  /** A key as a user presses it: `Enter`, `ArrowDown`, `Tab`. */
  async key(key) {
    const text = key === 'Enter' ? '\r' : undefined;
    const code = { Enter: 13, Tab: 9, Escape: 27, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key];
    for (const type of ['keyDown', 'keyUp']) {
      await this.send('Input.dispatchKeyEvent', { type, key, code: key, windowsVirtualKeyCode: code, text: type === 'keyDown' ? text : undefined });
    }
  }

  async click(selector) {
    const at = await this.run(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.scrollIntoView({ block: 'center' });
      const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`);
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.send('Input.dispatchMouseEvent', { type, x: at[0], y: at[1], button: 'left', clickCount: 1 });
    }
  }

  /** The page, or the part of it that `selector` covers, as a PNG file. */
  async picture(file, selector) {
    const clip = selector && await this.run(`(() => { const r = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
      return { x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height, scale: 1 }; })()`);
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, ...(clip ? { clip } : {}) });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  async pdf() {
    const { data } = await this.send('Page.printToPDF', { printBackground: true });
    return Buffer.from(data, 'base64');
  }
}
