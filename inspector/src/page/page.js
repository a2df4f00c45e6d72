// Draws the frames of the inspector, with parts.js and graph.js. All text is inserted as text, never as HTML, because
// names of tasks come from the program, and through it from anybody.
'use strict';

const token = new URLSearchParams(location.search).get('token') || '';

// The current request.
const view = { sort: 'busy', order: 'down', n: '100', filter: '' };
const siteView = { sort: 'busy', order: 'down' };
let paused = false;
let source = null;
let last = null;

// ---- The connection

function connect() {
  if (source) source.close();
  source = null;
  if (paused || document.hidden) return;
  const query = new URLSearchParams({ token, ...view });
  const mine = new EventSource(`events?${query}`);
  source = mine;
  mine.onmessage = (event) => {
    if (source !== mine) return;
    status('live', 'live');
    last = JSON.parse(event.data);
    draw(last);
  };
  mine.onerror = () => {
    if (source !== mine) return;
    status('lost', 'no connection: trying again');
    // After a refusal the browser gives up.
    if (mine.readyState === EventSource.CLOSED) setTimeout(() => { if (source === mine) connect(); }, 1000);
  };
}

function status(className, text) {
  byId('status').className = className;
  setText(byId('status'), text);
}

async function download() {
  const button = byId('download');
  button.disabled = true;
  try {
    const response = await fetch(`flight-record?${new URLSearchParams({ token })}`, { method: 'POST' });
    if (!response.ok) throw new Error(await response.text());
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await response.blob());
    link.download = 'flight-record.json';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  } catch (error) {
    status('lost', `no flight record: ${error.message}`);
  } finally {
    button.disabled = false;
  }
}

// ---- Tables

const drawTimes = table('times', [
  ['', '', 'text', (row) => row.name],
  ['', 'count', 'number', (row) => (row.count ? count(row.count) : '–')],
  ['p50', 'p50', 'time', (row) => (row.count ? sampled(row.p50) : '')],
  ['p99', 'p99', 'time', (row) => (row.count ? sampled(row.p99) : '')],
  ['max', 'longest', 'time', (row) => (row.count ? time(row.max) : '')],
  ['', '100 ns … 20 s', 'hist'],
]);

const drawSites = table('sites', [
  ['name', 'site', 'text', (row) => row.name],
  ['alive', 'alive', 'number', (row) => count(row.alive)],
  ['spawned', 'spawned', 'number', (row) => count(row.spawned)],
  ['polls', 'polls', 'number', (row) => count(row.polls)],
  ['busy', 'busy', 'time', (row) => time(row.busy)],
  ['mean', 'mean poll', 'time', (row) => time(row.mean)],
  ['p99', 'p99', 'time', (row) => (row.count ? time(row.p99) : '')],
  ['worst', 'worst poll', 'time', (row) => time(row.worst)],
  ['waited', 'waited', 'time', (row) => time(row.waited)],
  ['', 'polls, 100 ns … 20 s', 'hist'],
], siteView, () => last && draw(last));

const drawTasks = table('tasks', [
  ['id', 'id', 'number', (row) => row.id],
  ['name', 'name', 'text', (row) => row.name || ''],
  ['site', 'site', 'text', (row) => row.site],
  ['kind', 'kind', 'text', (row) => row.kind],
  ['state', 'state', 'text', (row) => (row.worker === null ? row.state : `${row.state} on ${row.worker}`)],
  ['since', 'for', 'time', (row) => time(row.since)],
  ['waits', 'waits for', 'text', (row) => (row.detail ? `${row.waits}: ${row.detail}` : row.waits)],
  ['polls', 'polls', 'number', (row) => count(row.polls)],
  ['busy', 'busy', 'time', (row) => time(row.busy)],
  ['age', 'age', 'time', (row) => time(row.age)],
], view, connect);

// ---- The panels

const COLUMN = 5;
const history = new Map();

function draw(frame) {
  setText(byId('runtime'), `inspector · ${frame.runtime}`);
  const stuck = frame.stuck.filter((poll) => poll.lasts).length;
  document.title = stuck ? `(${stuck} stuck) windlass inspector` : 'windlass inspector';
  terms('totals', [
    ['tasks', count(frame.totals.alive)],
    ['spawned', rate(frame.totals.spawn_rate)],
    ['finished', rate(frame.totals.finish_rate)],
    ['panicked', count(frame.totals.panicked)],
  ]);
  terms('queues', Object.entries(frame.queues).map(([name, number]) => [name, count(number)]));
  findings(frame.findings);
  stuckPolls(frame.stuck);
  workers(frame);
  const slow = 10e6;
  drawTimes(frame.times.map((row) => ({ ...row, high: row.p99 >= slow && row.name !== 'fork-join' ? 'p99' : '' })));
  sites(frame, slow);
  waits(frame.waits);
  const { total, matching, rows } = frame.tasks;
  setText(byId('tasks-count'), matching < total || rows.length < total
    ? `${count(rows.length)} of ${count(matching)}${matching < total ? ` that match, of ${count(total)}` : ''}` : count(total));
  drawTasks(rows, (row) => (row.state === 'running' && row.since >= slow && !row.may_last ? 'running stuck' : row.state));
}

function terms(id, pairs) {
  const make = () => { const pair = element('div'); pair.append(element('dt'), element('dd')); return pair; };
  const divs = resize(byId(id), pairs.length, make);
  pairs.forEach(([name, value], index) => {
    setText(divs[index].children[0], name);
    setText(divs[index].children[1], value);
  });
}

function findings(list) {
  const shown = list.length ? list : [{ severity: 'none', text: 'Nothing stands out.' }];
  const items = resize(byId('findings'), shown.length, () => element('li'));
  shown.forEach(({ severity, text }, index) => {
    items[index].className = severity;
    setText(items[index], text);
  });
}

function stuckPolls(list) {
  byId('stuck-panel').hidden = list.length === 0;
  byId('stuck-panel').className = list.some((poll) => poll.lasts) ? 'wide alarm' : 'wide';
  const make = () => {
    const article = element('article');
    const line = element('p');
    line.append(element('span', 'name'), ' ', element('span', 'lasted'), ' ', element('span', 'soft'));
    const details = element('details');
    details.append(element('summary', '', 'stack'), element('pre'));
    article.append(line, details);
    return article;
  };
  const articles = resize(byId('stuck'), list.length, make);
  list.forEach((poll, index) => {
    const [line, details] = articles[index].children;
    const lasting = poll.lasts ? '' : 'over';
    // The stacks of ended polls are folded, unless somebody has unfolded them.
    if (articles[index].className !== lasting || !articles[index].dataset.drawn) details.open = poll.lasts;
    articles[index].dataset.drawn = 'yes';
    articles[index].className = lasting;
    setText(line.children[0], poll.name || (poll.task === null ? 'a computation' : `task ${poll.task}`));
    const [now, then] = {
      leaf: ['computes without a split point for', 'has computed without a split point for'],
      'blocking pool': ['full for', 'was full for'],
    }[poll.within] || ['in this poll for', 'was in one poll for'];
    setText(line.children[1], poll.lasts ? `${now} ${time(poll.lasted)}` : `${then} more than ${time(poll.lasted)}`);
    const worker = poll.worker === null ? '' : ` · worker ${poll.worker}`;
    setText(line.children[2], `${poll.site}${worker}${poll.name && poll.task !== null ? ` · task ${poll.task}` : ''}`);
    details.hidden = poll.stack.length === 0;
    setText(details.children[1], poll.stack.join('\n'));
  });
}

function workers(frame) {
  const make = () => {
    const row = element('div', 'worker');
    row.append(element('span', 'label'), element('canvas'), element('span', 'doing'));
    return row;
  };
  const rows = resize(byId('workers'), frame.workers.length, make);
  const columns = Math.floor((byId('workers').clientWidth - 78) / COLUMN);
  frame.workers.forEach((worker, index) => {
    const [label, canvas, doing] = rows[index].children;
    setText(label, worker.spare ? `spare ${worker.index}` : `worker ${worker.index}`);
    const past = history.get(worker.index) || [];
    if (past.length === 0 || past[past.length - 1].at !== frame.at) past.push({ at: frame.at, ...worker });
    while (past.length > 400) past.shift();
    history.set(worker.index, past);
    const blocked = worker.since !== null && worker.since >= 10e6;
    const now = worker.task === null ? '' : ` · ${worker.task}${blocked ? ` for ${time(worker.since)}` : ''}`;
    setText(doing, `${rate(worker.polls)} polls, ${rate(worker.steals)} steals, ${rate(worker.parks)} parks, ${count(worker.queued)} queued${now}`);
    setTitle(doing, doing.textContent);
    doing.className = blocked ? 'doing blocked' : 'doing';
    // Leaves out spares that have done nothing in the visible time.
    const active = (column) => column.poll + column.computing + column.blocked + column.os > 0.0005;
    rows[index].hidden = worker.spare && !past.slice(-columns).some(active);
    timeline(canvas, past);
  });
  setText(byId('window'), `the last ${time(columns * frame.interval)}`);
}

// Draws one column for each frame, the newest at the right: the shares of the worker's time, stacked.
function timeline(canvas, past) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`);
  const parts = ['blocked', 'poll', 'computing', 'os'].map((name) => [name, color(name)]);
  const steal = color('steal');
  for (let back = 1; back <= past.length; back += 1) {
    const x = width - back * COLUMN;
    if (x < -COLUMN) break;
    const column = past[past.length - back];
    let y = height;
    for (const [name, fill] of parts) {
      // A share that is not negligible is at least one pixel tall.
      const tall = column[name] > 0.0005 ? Math.max(1, column[name] * (height - 5)) : 0;
      pen.fillStyle = fill;
      pen.fillRect(x, y - tall, COLUMN - 1, tall);
      y -= tall;
    }
    if (column.steals > 0) {
      pen.fillStyle = steal;
      pen.fillRect(x + 1, 1, 2, 2);
    }
  }
}

function sites(frame, slow) {
  const rows = frame.sites.map((site) => ({
    ...site,
    mean: site.polls ? site.busy / site.polls : 0,
    // Sites without polls can't hold up a worker: closures of the blocking pool may take as long as they like.
    high: site.computes || !site.count ? '' : site.p99 >= slow ? 'p99' : site.worst >= slow ? 'worst' : '',
  }));
  const { sort, order } = siteView;
  const sign = order === 'up' ? 1 : -1;
  rows.sort((one, other) => sign * (typeof one[sort] === 'string' ? one[sort].localeCompare(other[sort]) : one[sort] - other[sort]));
  setText(byId('sites-count'), frame.all_sites > rows.length ? `${rows.length} of ${count(frame.all_sites)}` : rows.length);
  drawSites(rows);
}

function waits({ kinds, joins, all_joins: all, circles }) {
  const pairs = Object.entries(kinds).map(([kind, number]) => [kind || 'not polled yet', number]);
  const most = Math.max(1, ...pairs.map(([, number]) => number));
  const make = () => {
    const row = element('div', 'kind');
    const track = element('span');
    track.append(element('span', 'bar'));
    row.append(element('span'), track, element('span', 'count'));
    return row;
  };
  const rows = resize(byId('kinds'), pairs.length, make);
  pairs.forEach(([kind, number], index) => {
    const [label, track, total] = rows[index].children;
    setText(label, kind);
    track.firstElementChild.style.display = 'block';
    track.firstElementChild.style.width = `${(100 * number) / most}%`;
    setText(total, count(number));
  });
  drawGraph(byId('graph'), joins, circles);
  byId('joins-text').hidden = joins.length === 0;
  const chains = chainsOf(joins, circles);
  const items = resize(byId('joins'), chains.length + (all > joins.length ? 1 : 0), () => element('li'));
  chains.forEach(({ text, circle, since }, index) => {
    items[index].className = circle ? 'circle' : '';
    const parts = resize(items[index], 2, () => element('span'));
    setText(parts[0], circle ? `↻ ${text}` : text);
    parts[1].className = 'soft';
    setText(parts[1], circle ? '  a circle: none of them can end' : `  ${time(since)}`);
  });
  if (all > joins.length) {
    items[chains.length].className = '';
    setText(items[chains.length], `… and ${count(all - joins.length)} more joins`);
  }
}

// Successive joins make a chain: a → b → c. Each chain starts with a task that no other waits for.
function chainsOf(joins, circles) {
  const next = new Map(joins.map((join) => [join.from, join]));
  const awaited = new Set(joins.map((join) => join.to));
  const circular = circularOf(joins, circles);
  const chains = circles.map(({ members, total }) => {
    const names = members.slice(0, 12).map((id) => (next.has(id) ? next.get(id).from_name : `task ${id}`));
    if (total > names.length) names.splice(12, 0, `… ${count(total - names.length)} more`);
    return { text: [...names, names[0]].join(' → '), circle: true, since: 0 };
  });
  for (const join of joins) {
    if (awaited.has(join.from) || circular.has(join.from)) continue;
    const names = [join.from_name];
    let at = join;
    while (at && names.length < 12) {
      names.push(at.to_name);
      if (circular.has(at.to)) { names.push('↻'); break; }
      at = next.get(at.to);
    }
    chains.push({ text: names.join(' → '), circle: false, since: join.since });
  }
  return chains;
}

// ---- Controls

byId('pause').onclick = () => {
  paused = !paused;
  setText(byId('pause'), paused ? 'Resume' : 'Pause');
  if (paused) status('', 'paused');
  connect();
};
byId('download').onclick = download;
byId('rows').onchange = (event) => { view.n = event.target.value; connect(); };
let typing = 0;
byId('filter').oninput = (event) => {
  clearTimeout(typing);
  typing = setTimeout(() => { view.filter = event.target.value; connect(); }, 200);
};
// A page that nobody sees costs the program nothing.
document.addEventListener('visibilitychange', () => { if (!paused) connect(); });
addEventListener('resize', () => { if (last) draw(last); });

connect();
