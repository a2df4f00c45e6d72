// Draws which tasks wait for which: each task points at the one that it joins. All text is inserted as text.
//
// A task waits for at most one other. So the graph consists of trees, whose roots wait for something other than a task
// or for nothing, and of circles with trees attached. A tree is drawn from right to left, with the root at the right.
'use strict';

const GRAPH = { width: 122, height: 22, gap: 24, row: 28, rows: 24, waiters: 6, members: 12 };

function svgElement(name, attributes) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Returns the tasks of circles. For a circle that is cut short, this includes the first of those left out, because the
// last known task waits for it.
function circularOf(joins, circles) {
  const next = new Map(joins.map((join) => [join.from, join.to]));
  return new Set(circles.flatMap(({ members }) => [...members, next.get(members[members.length - 1])]));
}

// Returns boxes and arrows, in columns from the right (0 is the root) and rows from the top.
function layOut(joins, circles) {
  const names = new Map();
  const does = new Map();
  const waiters = new Map();
  for (const join of joins) {
    names.set(join.from, join.from_name);
    names.set(join.to, join.to_name);
    does.set(join.to, join.to_does);
    waiters.set(join.to, [...(waiters.get(join.to) || []), join.from]);
  }
  const waits = new Set(joins.map((join) => join.from));
  const circular = circularOf(joins, circles);
  const boxes = [];
  const arrows = [];
  let rows = 0;
  let left = 0;
  const box = (text, title, kind, column, row) => {
    boxes.push({ text, title, kind, column, row });
    return { column, row };
  };
  const nameOf = (id) => names.get(id) || `task ${id}`;
  // Places the tasks that wait for a task, and those that wait for them. The first is beside it, the others below.
  const placeWaiters = (id, at) => {
    const all = (waiters.get(id) || []).filter((one) => !circular.has(one));
    // Without recursion: chains may be long.
    const pending = all.map((one, index) => ({ one, of: all.length, index, at }));
    let beside = true;
    while (pending.length > 0) {
      const { one, of, index, at: parent } = pending.shift();
      if (!beside) rows += 1;
      if (rows >= GRAPH.rows) { left += 1 + pending.length; return; }
      if (index === GRAPH.waiters && of > GRAPH.waiters + 1) {
        arrows.push([box(`${of - index} more`, '', 'more', parent.column + 1, rows), parent, '']);
        while (pending.length > 0 && pending[0].at === parent) pending.shift();
        beside = false;
        continue;
      }
      const placed = box(nameOf(one), `${nameOf(one)}: task ${one}`, '', parent.column + 1, rows);
      arrows.push([placed, parent, '']);
      const more = (waiters.get(one) || []).filter((other) => !circular.has(other));
      pending.unshift(...more.map((other, place) => ({ one: other, of: more.length, index: place, at: placed })));
      beside = more.length > 0;
    }
  };
  for (const { members, total } of circles) {
    if (rows >= GRAPH.rows) { left += total; continue; }
    // The last waits for the first.
    const circle = members.slice(0, GRAPH.members);
    const more = total > circle.length ? 1 : 0;
    const places = circle.map((id, index) => box(nameOf(id), `${nameOf(id)}: task ${id}, in a circle: none of them can end`, 'circle', circle.length - 1 + more - index, rows));
    if (more) places.push(box(`${total - circle.length} more`, 'in the same circle', 'circle', 0, rows));
    places.forEach((place, index) => {
      if (index + 1 < places.length) arrows.push([place, places[index + 1], 'circle']);
    });
    arrows.push([places[places.length - 1], places[0], 'back']);
    rows += 1;
    for (const id of circle.filter((one) => (waiters.get(one) || []).some((waiter) => !circular.has(waiter)))) {
      if (rows >= GRAPH.rows) break;
      placeWaiters(id, box(`↻ ${nameOf(id)}`, 'in the circle above', 'circle again', 0, rows));
      rows += 1;
    }
  }
  const roots = [...new Set(joins.map((join) => join.to))].filter((id) => !waits.has(id) && !circular.has(id));
  for (const id of roots) {
    if (rows >= GRAPH.rows) { left += 1; continue; }
    const what = does.get(id);
    // The root waits for something that is not a task.
    const end = what ? box(what, what, 'thing', 0, rows) : null;
    const root = box(nameOf(id), `${nameOf(id)}: task ${id}`, '', end ? 1 : 0, rows);
    if (end) arrows.push([root, end, '']);
    placeWaiters(id, root);
    rows += 1;
  }
  return { boxes, arrows, rows, left };
}

function drawGraph(parent, joins, circles) {
  const { boxes, arrows, rows, left } = layOut(joins, circles);
  // Frames are often the same.
  const drawn = JSON.stringify([boxes, arrows.length, left]);
  if (parent.dataset.drawn === drawn) return;
  parent.dataset.drawn = drawn;
  parent.replaceChildren();
  parent.hidden = boxes.length === 0;
  if (boxes.length === 0) return;
  const { width, height, gap, row } = GRAPH;
  const columns = 1 + Math.max(...boxes.map((box) => box.column));
  const x = (at) => (columns - 1 - at.column) * (width + gap) + 1;
  const y = (at) => at.row * row + 4;
  const [wide, tall] = [columns * (width + gap) - gap + 14, rows * row + 8];
  const svg = svgElement('svg', { width: wide, height: tall, viewBox: `0 0 ${wide} ${tall}`, role: 'img', 'aria-label': 'who waits for whom' });
  for (const [from, to, kind] of arrows) {
    let path;
    if (kind === 'back') {
      // The arrow goes around, below the boxes of its row.
      const [start, end, below] = [x(from) + width, x(to), y(from) + height + 3];
      path = `M${start} ${y(from) + height / 2}h6V${below}H${end + width / 2}V${y(to) + height + 1}`;
    } else {
      const [start, end] = [x(from) + width, x(to) - 2];
      const [high, low] = [y(from) + height / 2, y(to) + height / 2];
      path = high === low ? `M${start} ${high}H${end}` : `M${start} ${high}C${start + gap * 0.7} ${high} ${end - gap * 0.7} ${low} ${end} ${low}`;
    }
    const line = svgElement('path', { d: path, class: kind ? 'circle' : '' });
    const tip = kind === 'back'
      ? `M${x(to) + width / 2 - 3} ${y(to) + height + 5}l3 -5l3 5z`
      : `M${x(to) - 6} ${y(to) + height / 2 - 3.5}l6 3.5l-6 3.5z`;
    svg.append(line, svgElement('path', { d: tip, class: kind ? 'tip circle' : 'tip' }));
  }
  for (const { text, title, kind, column, row: at } of boxes) {
    const group = svgElement('g', { class: kind, transform: `translate(${x({ column })} ${y({ row: at })})` });
    group.append(svgElement('rect', { width, height, rx: kind === 'thing' ? 11 : 4 }));
    const label = svgElement('text', { x: width / 2, y: height / 2 + 4, 'text-anchor': 'middle' });
    // The end of a file's path is the most useful part.
    const line = text.replace(/\s+/g, ' ').replace(/^\S*\/(\S+:\d+)$/, '$1');
    label.textContent = line.length > 18 ? `${line.slice(0, 17)}…` : line;
    const hint = svgElement('title', {});
    hint.textContent = title || text;
    group.append(label, hint);
    svg.append(group);
  }
  parent.append(svg);
  if (left > 0) {
    const more = document.createElement('p');
    more.className = 'soft';
    more.textContent = `… and ${left} more`;
    parent.append(more);
  }
}
