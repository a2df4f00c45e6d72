// Opens a flight record in Perfetto, unchanged, and asks what has become of it: node viewer.mjs PERFETTO TRACE [PICTURE].
// PERFETTO is a directory with Perfetto's page. Run by scripts/inspector.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { chromium } from 'playwright-core';

const [perfetto, file, picture] = process.argv.slice(2);
const WAIT = { timeout: 180000, polling: 50 };
const text = await readFile(file);
const trace = JSON.parse(text).traceEvents;
const threads = new Map(trace.filter((event) => event.name === 'thread_name').map((event) => [event.tid, event.args.name]));
const shown = trace.filter((event) => event.ph === 'X' || event.ph === 'i');

// What the format asks for, and Perfetto does not mind.
for (const event of trace) {
  assert.ok(['M', 'X', 'i', 's', 'f'].includes(event.ph), `a phase of the format: ${JSON.stringify(event)}`);
  assert.ok(Number.isInteger(event.pid) && Number.isInteger(event.tid) && typeof event.name === 'string', JSON.stringify(event));
  assert.ok(event.ph === 'M' || event.ts >= 0, JSON.stringify(event));
  assert.ok(event.ph !== 'X' || event.dur > 0, JSON.stringify(event));
}
for (const event of shown) assert.ok(threads.has(event.tid), `a thread with a name: ${JSON.stringify(event)}`);

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json' };
const server = createServer(async (request, response) => {
  const path = normalize(new URL(request.url, 'http://localhost').pathname);
  try {
    const body = path === '/trace.json' ? text : await readFile(join(perfetto, path === '/' ? 'index.html' : path));
    response.writeHead(200, { 'Content-Type': types[extname(path)] || (path === '/' ? 'text/html' : 'application/octet-stream') });
    response.end(body);
  } catch {
    response.writeHead(404);
    response.end();
  }
});
await new Promise((listens) => { server.listen(0, '127.0.0.1', listens); });
const origin = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
  timeout: 180000,
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  // Nobody else is asked.
  await page.route((url) => url.origin !== origin && url.protocol.startsWith('http'), (route) => route.abort());
  await page.goto(`${origin}/#!/?url=${origin}/trace.json`, { timeout: 180000 });
  await page.waitForFunction(() => window.app?.trace?.engine, null, WAIT);
  const query = (sql, columns) => page.evaluate(async ([ask, row]) => {
    const rows = [];
    for (const at = (await window.app.trace.engine.query(ask)).iter(row); at.valid(); at.next()) {
      rows.push(Object.fromEntries(Object.keys(row).map((column) => [column, at[column]])));
    }
    return rows;
  }, [sql, columns]);

  const troubles = await query("select name, value from stats where severity in ('error', 'data_loss') and value > 0", { name: 'str', value: 0 });
  assert.deepEqual(troubles, [], 'Perfetto has complained');
  const [{ slices, depth }] = await query('select count(*) as slices, max(depth) as depth from slice', { slices: 0, depth: 0 });
  assert.equal(slices, shown.length, 'each event is shown');
  const starts = trace.filter((event) => event.ph === 's').map((event) => event.id);
  assert.deepEqual(new Set(trace.filter((event) => event.ph === 'f').map((event) => event.id)), new Set(starts), 'each arrow has two ends');
  const [{ flows }] = await query('select count(*) as flows from flow', { flows: 0 });
  assert.equal(flows, starts.length, 'each arrow is shown');
  const names = await query('select distinct thread.name as name from slice join thread_track on slice.track_id = thread_track.id join thread using (utid)', { name: 'str' });
  const known = new Set(shown.map((event) => threads.get(event.tid)));
  assert.deepEqual(new Set(names.map(({ name }) => name)), known, 'on the tracks of their threads');
  console.log(`ok: Perfetto shows ${slices} events of ${known.size} threads, up to ${depth + 1} deep, with ${flows} arrows from a wake-up to a poll, and has nothing to complain of`);
  if (picture) {
    await page.waitForTimeout(3000);
    await page.screenshot({ path: picture });
  }
} finally {
  await browser.close();
  server.close();
}
