import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from './chromium.js';
import { ADMIN } from './server.js';

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

/** A browser for the console of one service. */
export class ConsoleBrowser {
  private constructor(
    private readonly browser: Browser,
    readonly url: string,
  ) {}

  /** @param args of Chromium */
  static async start(url: string, args: string[] = []): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(await launchChromium(args), url);
  }

  stop(): Promise<void> {
    return this.browser.close();
  }

  /** Opens an address of the console in a new profile. */
  async open(path: string, look: Look = {}): Promise<Visit> {
    const visit = await this.newPage(look);
    await visit.page.goto(this.url + path);
    return visit;
  }

  /** Opens an address of the console with a session that was begun without the page. */
  async openAs(path: string, user: { username: string; password: string } = ADMIN, look: Look = {}): Promise<Visit> {
    const visit = await this.newPage(look);
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

  private async newPage({ scheme = 'light', width = 1280, language = 'en' }: Look): Promise<Visit> {
    const context = await this.browser.newContext({
      colorScheme: scheme,
      locale: language === 'zh' ? 'zh-CN' : 'en-GB',
      viewport: { width, height: 800 },
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
    });
    return { page, complaints };
  }
}

/** Fills the form of the sign-in in. */
export async function signIn(page: Page, user: { username: string; password: string } = ADMIN): Promise<void> {
  await page.getByLabel(/^(User name|用户名)$/).fill(user.username);
  await page.getByLabel(/^(Password|密码)$/).fill(user.password);
  await page.getByRole('button', { name: /^(Sign in|登录)$/ }).click();
}

/** What axe finds wrong on the page, one line each. */
export async function axeProblems(page: Page): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  // as text, for it runs in the page
  const found = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`);
  return found as string[];
}

/** Asserts that the page breaks no rule of axe, does not scroll sideways, and that nothing was refused or broke. */
export async function assertSound(visit: Visit): Promise<void> {
  assert.deepEqual(await axeProblems(visit.page), []);
  await assertFits(visit);
}

/** Asserts that the page does not scroll sideways, and that nothing was refused or broke. */
export async function assertFits({ page, complaints }: Visit): Promise<void> {
  const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.equal(wide, 0, `${page.url()} scrolls sideways`);
  assert.deepEqual(complaints, []);
}
