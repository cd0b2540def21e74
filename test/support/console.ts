import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from './chromium.js';
import { ADMIN } from './server.js';
import { HANGS_MS } from './until.js';
import { until } from './world.js';

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');

export interface Look {
  scheme?: 'light' | 'dark';
  /** CSS pixels */
  width?: number;
  language?: 'en' | 'zh';
}

/** A page of the console with what the browser had to say against it. */
export interface Visit {
  page: Page;
  /** what the policy of the page refused, and errors of its scripts */
  complaints: string[];
}

/** As where the user asked for less data: no screen is loaded that is not opened. */
const NO_MORE_THAN_OPENED = "Object.defineProperty(navigator.connection, 'saveData', { value: true })";

/** A browser for the console of one service. */
export class ConsoleBrowser {
  private readonly used: Visit[] = [];
  private readonly left: Visit[] = [];

  private constructor(
    private readonly browser: Browser,
    readonly url: string,
    private readonly loadsAhead: boolean,
  ) {}

  /**
   * @param args of Chromium
   * @param loadsAhead whether pages load in advance what may be opened later, as they do for people
   */
  static async start(url: string, args: string[] = [], loadsAhead = false): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(await launchChromium(args), url, loadsAhead);
  }

  stop(): Promise<void> {
    return this.browser.close();
  }

  /** Opens an address of the console in a new profile. */
  async open(path: string, look: Look = {}): Promise<Visit> {
    const visit = await this.newVisit(look);
    await visit.page.goto(this.url + path);
    return visit;
  }

  /** Opens an address of the console with a session that was begun without the page. */
  async openAs(path: string, user: { username: string; password: string } = ADMIN, look: Look = {}): Promise<Visit> {
    const visit = await this.newVisit(look);
    const { page } = visit;
    const headers = { 'X-Zoneward-Session': 'cookie' };
    const answer = await page.context().request.post(`${this.url}/api/auth/login`, { headers, data: user });
    assert.equal(answer.status(), 200, await answer.text());
    await page.goto(this.url + path);
    await page
      .getByRole('navigation', { name: /Places|导航/ })
      .or(page.getByRole('main'))
      .first()
      .waitFor();
    return visit;
  }

  /**
   * Ends all visits. Their pages are emptied and opened again: one that knows the console takes half the time of a new
   * one. What a test has changed of a page for good, such as its clock, it closes itself.
   */
  async leave(): Promise<void> {
    for (const visit of this.used.splice(0)) {
      const { page } = visit;
      const context = page.context();
      if (page.isClosed()) continue;
      for (const other of context.pages()) if (other !== page) await other.close();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.goto(`${this.url}/favicon.svg`);
      await page.evaluate('localStorage.clear(); sessionStorage.clear()');
      await context.clearCookies();
      this.left.push(visit);
    }
  }

  private async newVisit({ scheme = 'light', width = 1280, language = 'en' }: Look): Promise<Visit> {
    const again = language === 'en' && this.left.pop();
    const visit = again || (await this.newPage(language));
    visit.complaints.length = 0;
    await visit.page.setViewportSize({ width, height: 800 });
    await visit.page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    if (language === 'en') this.used.push(visit);
    return visit;
  }

  private async newPage(language: 'en' | 'zh'): Promise<Visit> {
    const context = await this.browser.newContext({ locale: language === 'zh' ? 'zh-CN' : 'en-GB' });
    context.setDefaultTimeout(HANGS_MS);
    if (!this.loadsAhead) await context.addInitScript(NO_MORE_THAN_OPENED);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
    });
    return { page, complaints };
  }
}

/** Goes to another screen within the page, as a link does. What was shown before is gone. */
export async function goTo(page: Page, path: string): Promise<void> {
  const nothing = page.getByRole('heading', { name: /^(Not found|未找到)$/, level: 1 });
  await page.evaluate(`history.pushState(null, '', '/none')`);
  await nothing.waitFor();
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await nothing.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1 }).first().waitFor();
}

/** Fills the form of the sign-in in. */
export async function signIn(page: Page, user: { username: string; password: string } = ADMIN): Promise<void> {
  await page.getByLabel(/^(User name|用户名)$/).fill(user.username);
  await page.getByLabel(/^(Password|密码)$/).fill(user.password);
  await page.getByRole('button', { name: /^(Sign in|登录)$/ }).click();
}

/**
 * What axe finds wrong on the page, one line each.
 * @param rules its own names of rules, default all
 */
async function axeProblems(page: Page, rules?: string[]): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  // as text, for it runs in the page
  const found = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`);
  return found as string[];
}

/** Shows the page in another scheme, as when that of the system changes. */
export async function wear(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor();
  // colours that are on their way are no contrast yet
  await page.evaluate(`Promise.all(document.getAnimations().map((one) =>
    one.effect.getComputedTiming().endTime < Infinity ? one.finished.catch(() => undefined) : undefined)).then(() => undefined)`);
}

/**
 * Asserts that the page is sound in both schemes. Of what axe looks at, colours alone differ from one to the other.
 * @param inEach is called where it wears each of them
 */
export async function assertSoundInBoth(visit: Visit, inEach = async (_scheme: 'light' | 'dark') => {}): Promise<void> {
  await wear(visit.page, 'light');
  await inEach('light');
  await assertSound(visit);
  await wear(visit.page, 'dark');
  await inEach('dark');
  assert.deepEqual(await axeProblems(visit.page, ['color-contrast']), []);
}

/** Asserts that the page breaks no rule of axe, does not scroll sideways, and that nothing was refused or broke. */
export async function assertSound(visit: Visit): Promise<void> {
  assert.deepEqual(await axeProblems(visit.page), []);
  await assertFits(visit);
}

/** Asserts that the page does not scroll sideways, and that nothing was refused or broke. */
export async function assertFits({ page, complaints }: Visit): Promise<void> {
  // charts follow the width of the window a moment later
  await until(
    `${page.url()} does not scroll sideways`,
    async () => !(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')),
    3000,
  );
  assert.deepEqual(complaints, []);
}
