import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/**
 * Numbers what Tab has to reach in the order of the page, in the dialog that is open or else everywhere, and watches
 * where the focus goes. Of a group of radio buttons one is reached, and what a grid, a menu or a list keeps for the
 * arrows has tabindex -1.
 */
const watchOf = (part: 'document' | '#main') => `(() => {
  const all = 'a[href], button, input, select, textarea, summary, [contenteditable=true], [tabindex]';
  const root = [...document.querySelectorAll('[role=dialog][aria-modal=true]')].at(-1)
    ?? ${part === 'document' ? 'document' : `document.querySelector('${part}')`};
  if (root.id) root.focus();
  const groups = new Set();
  const wanted = [...root.querySelectorAll(all)].filter((one) => {
    if (one.matches(':disabled, [type=hidden], [tabindex="-1"], [aria-hidden=true] *, [aria-hidden=true]')) return false;
    if (!one.checkVisibility({ visibilityProperty: true })) return false;
    if (one.type !== 'radio') return true;
    const checked = document.querySelector('input[type=radio][name="' + CSS.escape(one.name) + '"]:checked');
    if (checked ? checked !== one : groups.has(one.name)) return false;
    groups.add(one.name);
    return true;
  });
  const nameOf = (one) => one.tagName.toLowerCase() + ' ' + (one.ariaLabel || one.innerText || one.name || one.type || one.id || '').slice(0, 60);
  // a mark may be on the element itself, on the field around it, or on the label beside it
  const marksOf = (one) => JSON.stringify([one, one.parentElement, one.nextElementSibling].filter(Boolean).map((at) => {
    const { outlineStyle, outlineWidth, outlineColor, borderColor, boxShadow, backgroundColor } = getComputedStyle(at);
    return [outlineStyle === 'none' ? '' : outlineStyle + outlineWidth + outlineColor, borderColor, boxShadow, backgroundColor];
  }));
  const log = { wanted: wanted.map(nameOf), reached: [], unseen: [], outside: [] };
  let last;
  document.addEventListener('focusin', ({ target }) => {
    const { top, bottom } = target.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) log.outside.push(nameOf(target));
    last = [target, marksOf(target)];
    log.reached.push(wanted.indexOf(target));
  });
  document.addEventListener('focusout', () => {
    const [target, marks] = last ?? [];
    // the editor marks itself some ms later
    if (target && !target.closest('.cm-editor')) queueMicrotask(() => target.isConnected && target !== document.activeElement && marksOf(target) === marks && log.unseen.push(nameOf(target)));
  });
  window.__tabs = log;
  // within a time Tab goes from part to part
  return wanted.length + 6 * wanted.filter((one) => /^(date|datetime-local|time)$/.test(one.type)).length;
})()`;

interface Log {
  wanted: string[];
  reached: number[];
  unseen: string[];
  outside: string[];
}

/** Asserts that Tab reaches all of a page, or of its main part, in its order, in sight, and goes round. */
export async function assertTabOrder(page: Page, part: 'document' | '#main'): Promise<void> {
  const presses = (await page.evaluate(watchOf(part))) as number;
  assert.ok(presses > 0);
  // where a dialog has the focus within already, one time round more is needed
  await Promise.all(Array.from({ length: presses + 6 }, () => page.keyboard.press('Tab')));
  const log = (await page.evaluate('window.__tabs')) as Log;
  const missed = log.wanted.filter((_, i) => !log.reached.includes(i));
  assert.deepEqual(missed, [], 'not reached');
  assert.deepEqual([...new Set(log.unseen)], [], 'the focus is not seen');
  assert.deepEqual([...new Set(log.outside)], [], 'the focus is out of sight');
  const turns = log.reached.filter((at, i) => at >= 0 && at < Math.max(...log.reached.slice(0, i).slice(-1)));
  assert.ok(turns.length <= 2, `back in the order: ${log.reached.map((at) => log.wanted[at])}`);
}
