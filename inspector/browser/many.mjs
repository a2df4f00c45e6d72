// Looks at a program of 100,000 tasks in chromium: node many.mjs URL. Run by scripts/inspector.
//
// The page must show and sort them, and find one among them, without having them all, and must answer meanwhile.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const url = process.argv[2];
const TASKS = 100000;
const WAIT = { timeout: 180000, polling: 50 };
// What people take for an answer at once, which the page must give most of the time.
const AT_ONCE = 250;
// How often it is asked.
const QUESTIONS = 40;

const browser = await chromium.launch({
  timeout: 180000,
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(180000);
  page.setDefaultNavigationTimeout(180000);
  const errors = [];
  page.on('console', (message) => { if (message.type() === 'error') errors.push(message.text()); });
  page.on('pageerror', (error) => errors.push(error.message));

  await page.goto(url);
  await page.waitForSelector('#status.live', WAIT);
  await page.waitForFunction((tasks) => {
    const total = document.querySelector('#totals')?.textContent.match(/[0-9,]+/);
    return total && Number(total[0].replaceAll(',', '')) >= tasks;
  }, TASKS, WAIT);
  const rows = await page.$$eval('#tasks tbody tr', (found) => found.length);
  assert.ok(rows > 0 && rows <= 500, `${rows} rows`);

  // Sorted by the server, among all of them: the smallest and the largest ids are at most and at least so far apart.
  const first = () => page.$eval('#tasks tbody tr td.id', (cell) => Number(cell.textContent.replaceAll(',', '')));
  const sorted = async (order) => {
    const begun = Date.now();
    for (let clicks = 0; clicks < 3; clicks += 1) {
      if (await page.$(`#tasks th[data-column=id][aria-sort=${order}]`)) break;
      await page.click('#tasks th[data-column=id]');
    }
    await page.waitForFunction((sign) => {
      const ids = [...document.querySelectorAll('#tasks tbody tr td.id')].map((cell) => Number(cell.textContent.replaceAll(',', '')));
      return ids.length > 1 && ids.every((id, index) => index === 0 || sign * (ids[index - 1] - id) < 0);
    }, order === 'ascending' ? 1 : -1, WAIT);
    console.log(`ok: ${TASKS} tasks are sorted (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    return first();
  };
  const smallest = await sorted('ascending');
  await page.waitForSelector('#status.live', WAIT);
  const largest = await sorted('descending');
  assert.ok(largest - smallest >= TASKS - 1, `ids from ${smallest} to ${largest}`);

  const begun = Date.now();
  await page.fill('#filter', 'slow query');
  await page.waitForFunction(() => {
    const names = [...document.querySelectorAll('#tasks td.name')].map((cell) => cell.textContent);
    return names.length === 1 && names[0] === 'slow query';
  }, null, WAIT);
  console.log(`ok: one is found by its name (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  await page.fill('#filter', '');
  await page.waitForFunction(() => document.querySelectorAll('#tasks tbody tr').length > 1, null, WAIT);

  // While frames come in and are drawn, the page is asked again and again, from within.
  const answers = await page.evaluate((questions) => new Promise((resolve) => {
    const late = [];
    let frames = 0;
    const observer = new MutationObserver(() => { frames += 1; });
    observer.observe(document.querySelector('#tasks'), { subtree: true, childList: true, characterData: true });
    const ask = () => {
      const asked = performance.now();
      setTimeout(() => {
        late.push(performance.now() - asked - 100);
        if ((late.length >= questions && frames >= 5) || late.length >= 20 * questions) { observer.disconnect(); resolve({ late, frames }); } else ask();
      }, 100);
    };
    ask();
  }), QUESTIONS);
  const late = answers.late.toSorted((one, other) => one - other);
  const [median, worst] = [late[Math.floor(late.length / 2)], late[late.length - 1]];
  console.log(`ok: it answers after ${median.toFixed(0)} ms, ${worst.toFixed(0)} ms at worst, while ${answers.frames} frames are drawn`);
  assert.ok(answers.frames >= 5, `${answers.frames} frames`);
  assert.ok(median <= AT_ONCE, `${median} ms`);

  assert.deepEqual(errors, [], 'the browser has complained');
  console.log('the inspector with 100,000 tasks: all is well');
} finally {
  await browser.close();
}
