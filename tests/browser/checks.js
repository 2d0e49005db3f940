// What is wrong with the page that is open, as a list of sentences: see look. A function, called in the page.
() => {
  const found = [];
  const say = (what, element) => found.push(
      `${what}: <${element.tagName.toLowerCase()}> ${(element.textContent || '').trim().replace(/\s+/g, ' ').slice(0, 60)}`);
  const root = document.documentElement;
  const is_html = root.tagName.toLowerCase() === 'html';

  if (is_html && root.scrollWidth > root.clientWidth + 1) {
    found.push(`the page is ${root.scrollWidth} wide in a window of ${root.clientWidth}`);
    for (const element of document.body.querySelectorAll('*')) {
      const inside = element.closest('.drawn, .sheet, pre');
      if (!inside && element.getBoundingClientRect().right > root.clientWidth + 1) say('reaches beyond the window', element);
    }
  }

  // contrast (WCAG 2.1, 1.4.3)
  const parse = colour => {
    const parts = (colour.match(/[\d.]+/g) || []).map(Number);
    return parts.length < 3 ? null : {rgb: parts.slice(0, 3), alpha: parts[3] ?? 1};
  };
  const over = (top, ground) => top.rgb.map((c, k) => top.alpha * c + (1 - top.alpha) * ground[k]);
  const luminance = rgb => {
    const [r, g, b] = rgb.map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const ground_of = element => {
    const layers = [];
    for (let at = element; at && at.nodeType === 1; at = at.parentElement) {
      const paint = parse(getComputedStyle(at).backgroundColor);
      if (paint && paint.alpha > 0) layers.push(paint);
      if (paint && paint.alpha === 1) break;
    }
    return layers.reverse().reduce((ground, paint) => over(paint, ground), [255, 255, 255]);
  };
  /// Of a text in a picture the last shape drawn before it that lies under its middle, else the paper.
  const ground_in_picture = (text, svg) => {
    const box = text.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
    let ground = parse(getComputedStyle(svg.querySelector('rect.paper')).fill).rgb;
    for (const shape of svg.querySelectorAll('rect:not(.paper)')) {
      if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
      const place = shape.getBoundingClientRect();
      if (x < place.left || x > place.right || y < place.top || y > place.bottom) continue;
      const style = getComputedStyle(shape), paint = parse(style.fill);
      if (paint) ground = over({rgb: paint.rgb, alpha: paint.alpha * Number(style.fillOpacity)}, ground);
    }
    return ground;
  };
  const has_text = element => [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  for (const element of document.querySelectorAll('body *:not(svg *):not(script):not(style)')) {
    const style = getComputedStyle(element);
    if (!has_text(element) || style.display === 'none' || element.closest('.skip:not(:focus)')) continue;
    const ground = ground_of(element), ink = parse(style.color);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast(over(ink, ground), ground) < (large ? 3 : 4.5)) say('too little contrast', element);
  }
  for (const svg of document.querySelectorAll('svg[role=img]'))
    for (const text of svg.querySelectorAll('text')) {
      const ground = ground_in_picture(text, svg), style = getComputedStyle(text), ink = parse(style.fill);
      const opaque = over({rgb: ink.rgb, alpha: ink.alpha * Number(style.fillOpacity)}, ground);
      if (contrast(opaque, ground) < (parseFloat(style.fontSize) >= 18.66 ? 3 : 4.5)) say('too little contrast', text);
    }

  // texts of a picture that run out of it, or axis texts that lie on one another
  for (const svg of document.querySelectorAll('svg[role=img]')) {
    const paper = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      if (box.right > paper.right + 2 || box.left < paper.left - 2 || box.bottom > paper.bottom + 2 || box.top < paper.top - 2)
        say('a text runs out of its picture', text);
    }
    for (const ticks of svg.querySelectorAll('g.ticks')) {
      const texts = [...ticks.querySelectorAll('text')].filter(text => !text.hasAttribute('transform'));
      for (let k = 1; k < texts.length; ++k) {
        const a = texts[k - 1].getBoundingClientRect(), b = texts[k].getBoundingClientRect();
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 4) say('texts of an axis lie on one another', texts[k]);
      }
    }
  }

  // names
  const named = element => (element.getAttribute('aria-label') || element.textContent || '').trim() !== '';
  for (const element of document.querySelectorAll('[role=img], [role=region], a, button, nav, th'))
    if (!named(element)) say('has no name', element);
  if (!is_html) return found;
  if (!document.title) found.push('the page has no title');
  if (!root.lang) found.push('the page does not say its language');
  if (document.querySelectorAll('main').length !== 1) found.push('there must be one main');
  if (document.querySelectorAll('h1').length !== 1) found.push('there must be one h1');
  let level = 0;
  for (const head of document.querySelectorAll('h1, h2, h3, h4')) {
    const here = Number(head.tagName[1]);
    if (here > level + 1) say('a heading skips a level', head);
    level = here;
  }
  for (const table of document.querySelectorAll('table')) {
    if (!table.caption || !table.caption.textContent.trim()) say('a table without a caption', table);
    for (const cell of table.querySelectorAll('th')) if (!cell.scope) say('a header without scope', cell);
  }
  const ids = new Set();
  for (const element of document.querySelectorAll('[id]')) {
    if (ids.has(element.id)) say(`the id ${element.id} twice`, element);
    ids.add(element.id);
  }
  for (const link of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(link.getAttribute('href').slice(1))) say('leads nowhere', link);
  for (const region of document.querySelectorAll('[role=region]'))
    if (region.scrollWidth > region.clientWidth && region.tabIndex < 0) say('scrolls, but not by keys', region);

  // tables sort
  const table = document.querySelector('table.sorts');
  if (table) {
    const words = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent);
    table.tHead.rows[0].cells[0].querySelector('button').click();
    const sorted = words();
    if (sorted.join() !== [...sorted].sort((a, b) => a.localeCompare(b)).join()) say('does not sort', table);
    if (table.tHead.rows[0].cells[0].getAttribute('aria-sort') !== 'ascending') say('does not say that it is sorted', table);
  }
  return found;
}
