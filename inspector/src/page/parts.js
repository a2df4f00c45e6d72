// The parts that the page is made of: elements, numbers, tables and histograms. All text is inserted as text, never as
// HTML, because names of tasks come from the program, and through it from anybody.
'use strict';

const byId = (id) => document.getElementById(id);

// ---- Elements

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function setText(node, text) {
  const string = String(text);
  if (node.textContent !== string) node.textContent = string;
}

// Gives a parent exactly `count` children, so that rows are reused from frame to frame.
function resize(parent, count, make) {
  while (parent.children.length > count) parent.lastElementChild.remove();
  while (parent.children.length < count) parent.append(make());
  return parent.children;
}

// ---- Numbers for people

function time(ns) {
  if (ns === null || ns === undefined) return '';
  if (!(ns > 0)) return '0';
  const units = [[86400e9, 'd'], [3600e9, 'h'], [100e9, 'min', 60e9], [0.9995e9, 's', 1e9], [0.9995e6, 'ms', 1e6], [0.9995e3, 'µs', 1e3], [0, 'ns', 1]];
  const [from, unit, scale] = units.find(([from]) => ns >= from);
  const value = ns / (scale || from);
  return `${value >= 99.95 || unit === 'ns' ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
}

// Times below the scale of the histograms are not distinguished, because short polls are sampled.
const sampled = (ns) => (ns < 100 ? '< 100 ns' : time(ns));

const count = (number) => Math.round(number).toLocaleString('en');

function rate(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M/s`;
  if (number >= 1e4) return `${(number / 1e3).toFixed(1)} k/s`;
  return `${number >= 10 ? count(number) : number.toFixed(1)} /s`;
}

// ---- Tables

// Returns a function that draws rows. A column is [key, heading, kind, text of a row]; `state` has the key and the order, and
// `changed` is called when a heading was clicked.
function table(id, columns, state, changed) {
  const head = element('tr');
  const body = element('tbody');
  const headings = columns.map(([key, heading, kind]) => {
    const cell = element('th', kind === 'text' ? 'text' : '', heading);
    cell.scope = 'col';
    if (key && state) {
      cell.dataset.column = key;
      cell.tabIndex = 0;
      const sort = () => {
        const first = kind === 'text' ? 'up' : 'down';
        state.order = state.sort === key ? (state.order === 'up' ? 'down' : 'up') : first;
        state.sort = key;
        mark();
        changed();
      };
      cell.onclick = sort;
      cell.onkeydown = (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); sort(); } };
    }
    head.append(cell);
    return cell;
  });
  function mark() {
    for (const cell of headings) {
      if (!cell.dataset.column) continue;
      const sorted = cell.dataset.column === state.sort;
      cell.setAttribute('aria-sort', sorted ? (state.order === 'up' ? 'ascending' : 'descending') : 'none');
    }
  }
  mark();
  const header = element('thead');
  header.append(head);
  byId(id).append(header, body);
  const makeRow = () => {
    const row = element('tr');
    for (const [key, , kind] of columns) row.append(element('td', `${kind} ${key}`));
    return row;
  };
  return (rows, classOf) => {
    const trs = resize(body, rows.length, makeRow);
    rows.forEach((row, index) => {
      trs[index].className = classOf ? classOf(row) : '';
      columns.forEach(([key, , kind, show], column) => {
        const cell = trs[index].children[column];
        if (kind === 'hist') return histogram(cell, row);
        const text = show(row);
        setText(cell, text);
        if (kind === 'text') cell.title = text;
        cell.className = `${kind} ${key}${kind === 'time' && row.high === key ? ' high' : ''}`;
      });
    });
  };
}

const HIST = { from: 2, to: 10.3, width: 140, height: 20 };

// Draws the buckets on a logarithmic scale from 100 ns to 20 s.
function histogram(cell, row) {
  const SVG = 'http://www.w3.org/2000/svg';
  let svg = cell.firstElementChild;
  if (!svg) {
    svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('class', 'hist');
    svg.setAttribute('viewBox', `0 0 ${HIST.width} ${HIST.height}`);
    svg.setAttribute('preserveAspectRatio', 'none');
    const base = document.createElementNS(SVG, 'line');
    base.setAttribute('x2', HIST.width);
    base.setAttribute('y1', HIST.height - 0.5);
    base.setAttribute('y2', HIST.height - 0.5);
    svg.append(base, document.createElementNS(SVG, 'path'));
    cell.append(svg);
  }
  const bins = new Array(HIST.width / 4).fill(0);
  for (const [bound, number] of row.buckets) {
    const x = (Math.log10(Math.max(bound, 1)) - HIST.from) / (HIST.to - HIST.from);
    bins[Math.min(bins.length - 1, Math.max(0, Math.floor(x * bins.length)))] += number;
  }
  const most = Math.max(...bins);
  let path = '';
  bins.forEach((number, index) => {
    if (!number) return;
    // The rare ones matter most, so the height is logarithmic too.
    const height = 2 + (HIST.height - 2) * Math.log1p(number) / Math.log1p(most);
    path += `M${index * 4} ${HIST.height}v-${height.toFixed(1)}h3v${height.toFixed(1)}z`;
  });
  if (svg.lastElementChild.getAttribute('d') !== path) svg.lastElementChild.setAttribute('d', path);
  setTitle(cell, row.count ? `${count(row.count)}: p50 ${time(row.p50)}, p99 ${time(row.p99)}, longest ${time(row.max)}` : '');
}

function setTitle(node, text) {
  if (node.title !== text) node.title = text;
}
