// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of others are among the texts
import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { noChromium } from '../support/chromium.js';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { ConsoleBrowser, goTo, type Visit } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { ADMIN } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addDomain, done, each, made, refused, startWorld, until, type World } from '../support/world.js';

/** What runs as `xss()`, or asks x.test, where text is taken for anything but text. At most 60 characters each. */
const TEXTS = [
  '<script>xss()</script>',
  '<script src=//x.test/1.js></script>',
  '<ScRiPt >xss()</sCrIpT>',
  '<<script>xss();//<</script>',
  '<img src=x onerror=xss()>',
  '<img src=//x.test/2.png>',
  '<img src=x:x onerror=&#120;ss()>',
  '<svg onload=xss()>',
  '<svg><script>xss()</script></svg>',
  '<svg><animate onbegin=xss() attributeName=x dur=1s>',
  '<math><mi xlink:href=javascript:xss()>x',
  '<body onload=xss()>',
  '<details open ontoggle=xss()>x',
  '<input autofocus onfocus=xss()>',
  '<iframe srcdoc="<script>parent.xss()</script>">',
  '<iframe src=javascript:parent.xss()>',
  '<object data=javascript:xss()>',
  '<a href=javascript:xss()>x</a>',
  '<base href=//x.test/>',
  '<meta http-equiv=refresh content=0;url=//x.test>',
  '<link rel=stylesheet href=//x.test/3.css>',
  '<style>@import"//x.test/4.css";</style>',
  '<p style="background:url(//x.test/5.png)">',
  'javascript:xss()',
  'JaVaScRiPt://%0axss()',
  'data:text/html,<script>parent.xss()</script>',
  '//x.test/6',
  '"><img src=x onerror=xss()>',
  "' onmouseover='xss()' x='",
  '" onfocus="xss()" autofocus="',
  '</title><script>xss()</script>',
  '</textarea><script>xss()</script>',
  '--></script><script>xss()</script>',
  '"); background: url("//x.test/7.png',
  '${xss()}',
  "{{constructor.constructor('xss()')()}}",
  '${{7*7}}<%= 7*7 %>#{7*7}',
  '$t(common:cancel) {{name}}',
  '&lt;script&gt;xss()&lt;/script&gt;',
  '&#60;img src=x onerror=xss()&#62;',
  '\\u003cimg src=x onerror=xss()\\u003e',
  '[x](javascript:xss()) ![x](//x.test/8.png)',
  '<noscript><p title="</noscript><img src=x onerror=xss()>">',
  '<svg></p><style><a id="</style><img src=x onerror=xss()>">',
  'x\u202e<script>xss()</script>\u2066',
  'x\ufeff<img src=x onerror=xss()>',
  '\uff1cscript\uff1exss()\uff1c/script\uff1e',
  '__proto__',
  'constructor',
];
const textAt = (i: number) => TEXTS[i % TEXTS.length] as string;
/** for what there is one of: leaves titles, quotes, comments, and elements of raw text behind */
const ALL_WAYS = `'"\`</title></textarea></style></script>--><svg/onload=xss()><img src=//x.test/9.png onerror=xss()>`;

/** Before the page: what runs leaves a mark. */
const TRAP = `window.__xss = []; window.xss = () => window.__xss.push(new Error().stack);
addEventListener('securitypolicyviolation', ({ blockedURI, violatedDirective }) =>
  window.__xss.push(violatedDirective + ' ' + blockedURI));`;

/** What ran, and what of the page is there only where text was not text. */
const HARM = `(() => {
  const found = [...window.__xss];
  const here = new URL(document.baseURI).origin;
  for (const one of document.querySelectorAll('*')) {
    for (const { name, value } of one.attributes) {
      if (/^on|^srcdoc$/.test(name)) found.push(name + '=' + value);
      if (!/^(href|xlink:href|src|action|formaction|data|background|poster)$/.test(name)) continue;
      const url = URL.canParse(value, document.baseURI) && new URL(value, document.baseURI);
      const ours = url && (url.origin === here || (url.protocol === 'https:' && url.hostname !== 'x.test'));
      if (!ours && !value.startsWith('data:image/')) found.push(name + '=' + value);
    }
  }
  for (const one of document.querySelectorAll('script:not([src]), iframe, object, embed, math, noscript p, svg script, svg animate'))
    if (one.type !== 'application/json') found.push(one.outerHTML);
  if (document.querySelectorAll('base').length !== 1) found.push('another base');
  return found;
})()`;

/** All that the page shows: text, values of fields, names for the ears, its title. */
const SHOWN = `[document.title, document.body.innerText,
  ...[...document.querySelectorAll('input, textarea')].map(({ value }) => value),
  ...[...document.querySelectorAll('[aria-label], [title]')].map((one) => one.ariaLabel + ' ' + one.title)].join('\\n')`;

/** All places in which a page could keep something. */
const KEPT = `JSON.stringify([document.documentElement.outerHTML, location.href, { ...localStorage }, { ...sessionStorage },
  document.cookie, history.state, [...document.querySelectorAll('input, textarea')].map(({ value }) => value)])`;

describeUnless(noChromium || noPowerdns)('text that would run', () => {
  let world: World;
  let cloudflare: Cloudflare;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let page: Page;
  /** addresses that pages asked for elsewhere */
  const elsewhere: string[] = [];
  const secrets: RegExp[] = [];
  /** ids of what the texts are in, the first of each kind */
  const ids = { account: 0, team: 0, token: 0, user: 0, domain: 0 };

  const watch = async (given: Page) => {
    given.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== world.server.url) elsewhere.push(request.url());
    });
    given.on('dialog', (dialog) => {
      elsewhere.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    given.on('popup', (popup) => void elsewhere.push(`popup ${popup.url()}`));
    await given.addInitScript(TRAP);
  };

  /** Asserts that the page shows these texts as they are, and that nothing of them ran. */
  const inert = async (given: Page, texts: readonly string[]) => {
    const flat = (text: string) => text.replace(/\s+/g, ' ');
    let shown = '';
    const missing = () => texts.filter((text) => !shown.includes(flat(text)));
    await until(
      `all texts at ${given.url()}`,
      async () => {
        shown = flat((await given.evaluate(SHOWN)) as string);
        return missing().length === 0;
      },
      10_000,
    ).catch(() => assert.deepEqual(missing(), [], `not shown at ${given.url()}:\n${shown}`));
    assert.deepEqual(await given.evaluate(HARM), [], given.url());
    const kept = (await given.evaluate(KEPT)) as string;
    for (const secret of secrets) assert.doesNotMatch(kept, secret);
  };
  let heading: ReturnType<Page['getByRole']>;
  let nothing: ReturnType<Page['getByRole']>;
  /** Opens a screen, and asserts that it shows these texts and is inert. */
  const opens = async (path: string, texts: readonly string[] = []) => {
    await goTo(page, path);
    await inert(page, texts);
  };

  beforeAll(async () => {
    [world, cloudflare] = await Promise.all([
      startWorld('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8' }),
      startCloudflare('cloud.example'),
    ]);
    const { admin, server } = world;
    secrets.push(/eyJ[\w-]+\.eyJ/, new RegExp(world.pdns.apiKey), new RegExp(ADMIN.password), /svc_[0-9a-f]{64}/);
    const changes = TEXTS.map((value, i) => ({
      op: 'create',
      host: `t${i}`,
      type: 'TXT',
      value,
      remark: textAt(i + 1),
    }));
    done(await admin.post(`${world.records}/batch`, { changes, comment: ALL_WAYS }));
    await each(TEXTS, 4, async (text, i) => {
      const account = made(
        await admin.post('/api/accounts', { provider: 'zonefile', name: text, remark: textAt(i + 7), credentials: {} }),
      );
      const zone = { name: `z${i}.example`, account_id: account.id, create: true, remark: text };
      const [made_domain, team, user, token] = await Promise.all([
        admin.post('/api/domains', zone).then(made),
        admin.post('/api/teams', { name: text, description: textAt(i + 3) }).then(made),
        admin.post('/api/users', { username: `user-${i}`, password: 'violet-harbour-92', nickname: text }).then(made),
        admin.post('/api/tokens', { name: text }).then(made),
      ]);
      if (i === 0)
        Object.assign(ids, {
          account: account.id,
          domain: made_domain.id,
          team: team.id,
          user: user.id,
          token: token.tokenData.id,
        });
    });
    browser = await ConsoleBrowser.start(server.url);
    visit = await browser.openAs('/teams');
    ({ page } = visit);
    page.setDefaultTimeout(15_000);
    await watch(page);
    await page.setViewportSize({ width: 1280, height: 4000 });
    heading = page.getByRole('heading', { level: 1 });
    nothing = page.getByRole('heading', { level: 1, name: 'Not found' });
    await page.goto(`${server.url}/teams`);
    await heading.waitFor();
  });
  afterAll(async () => {
    await browser?.stop();
    await cloudflare?.stop();
    await world?.stop();
  });

  it('is text in records, their remarks, comments and the history', async () => {
    await opens(`/domains/${world.domain}`, TEXTS);
    // as the form of a record has it
    await page.getByRole('row', { name: /\bt4 TXT/ }).press('Enter');
    await page.getByRole('form', { name: /^Edit/ }).waitFor();
    await inert(page, [textAt(4), textAt(5)]);
    await opens(`/domains/${world.domain}/history`, [ALL_WAYS]);
    await opens(`/domains/${world.domain}/history?version=2`, TEXTS);
    await opens('/records?type=TXT', TEXTS);
    for (const text of [ALL_WAYS, textAt(28)]) await opens(`/records?value=${encodeURIComponent(text)}`, [text]);
  });

  it('is text in the zone file', async () => {
    await opens(`/domains/${world.domain}?view=text`);
    await page.getByRole('textbox', { name: /^Zone file/ }).waitFor();
    // with the escapes of zone files
    await inert(page, ['"<img src=x onerror=xss()>"', '"<base href=//x.test/>"']);
  });

  it('is no host, and what a provider has at such a name is text', async () => {
    const changes = TEXTS.map((host) => ({ op: 'create', host, type: 'A', value: '192.0.2.1' }));
    const { outcomes } = (await world.admin.post(`${world.records}/batch`, { changes })).data;
    const taken = TEXTS.filter((_, i) => outcomes?.[i]?.ok);
    assert.deepEqual(taken, ['//x.test/6', '__proto__', 'constructor']);
    const odd = '<svg/onload=xss()>';
    world.proxy.fault = async (_, forward) => {
      const reply = await forward();
      return { ...reply, body: reply.body.replaceAll('constructor.example.com.', `${odd}.example.com.`) };
    };
    done(await world.admin.get(`${world.records}?refresh=true`));
    world.proxy.fault = null;
    await opens(`/domains/${world.domain}`, [odd, '//x.test/6', '__proto__']);
  });

  it('is text in plans, their comments, approvals and freezes', async () => {
    const { admin } = world;
    const domain = ids.domain;
    const path = `/api/domains/${domain}` as const;
    const a = (i: number) => [{ op: 'create', host: `w${i}`, type: 'A', value: '192.0.2.1' }];
    await each(TEXTS, 4, async (comment, i) => made(await admin.post(`${path}/plans`, { changes: a(i), comment })));
    done(await admin.put(path, { approval: { for: 'all', by: { role: 2 }, own: true } }));
    const asked = await admin.post(`${path}/records/batch`, { changes: a(0), comment: textAt(4) });
    const waiting = (asked.data as unknown as { id: number }).id;
    const words = textAt(28) + ALL_WAYS;
    done(await admin.post(`/api/plans/${waiting}/reject`, { comment: words }));
    const from = new Date(0).toISOString();
    const freeze = { from, until: new Date(Date.now() + 3_600_000).toISOString(), reason: ALL_WAYS };
    done(await admin.put(path, { freeze }));
    await opens(`/domains/${domain}/plans`, TEXTS.slice(-10));
    await opens(`/plans/${waiting}`, [textAt(4), words]);
    await opens(`/domains/${domain}`, [ALL_WAYS]);
    await opens(`/domains/${domain}/settings`, [ALL_WAYS, textAt(0)]);
  });

  it('is text in accounts, domains, teams, users and tokens', async () => {
    await opens('/accounts', TEXTS);
    await opens(`/accounts/${ids.account}`, [textAt(0), textAt(7)]);
    await opens('/domains', TEXTS);
    await opens('/teams', TEXTS);
    await opens(`/teams/${ids.team}`, [textAt(0), textAt(3)]);
    await opens('/users', TEXTS);
    await opens(`/users?user=${ids.user}`, [textAt(0)]);
    await opens('/tokens', TEXTS);
    await opens(`/tokens?token=${ids.token}`, [textAt(0)]);
    await opens('/', []);
    for (const i of [4, 24, 30]) await opens(`/domains?keyword=${encodeURIComponent(textAt(i))}`, [textAt(i)]);
  });

  it('is text in the trash', async () => {
    const list = done(await world.admin.get('/api/domains?limit=100'));
    for (const { id } of list.filter(({ name }) => /^z[1-4]\./.test(name)))
      done(await world.admin.delete(`/api/domains/${id}`));
    await opens('/domains?trash=true', ['z1.example']);
  });

  it('is text in saved views', async () => {
    await opens('/domains?keyword=z1', []);
    const views = TEXTS.map((name) => ({ name, search: { keyword: name, sort: name } }));
    // where the page itself keeps one
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('one');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.evaluate(`localStorage.setItem(
      Object.keys(localStorage).find((key) => key.includes('views')), ${JSON.stringify(JSON.stringify(views))})`);
    await opens(`/domains?keyword=${encodeURIComponent(textAt(4))}`, TEXTS);
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill(textAt(17));
    await page.keyboard.press('Enter');
    await inert(page, [textAt(17)]);
    await page.evaluate(`localStorage.clear()`);
  });

  it('is text in tunnels, and in what their provider says', async () => {
    const credentials = { api_token: 'token-of-tests', endpoint: cloudflare.url };
    const account_id = made(
      await world.admin.post('/api/accounts', { provider: 'cloudflare', name: 'cloud', credentials }),
    ).id;
    await addDomain(world.admin, account_id, 'cloud.example');
    const names = TEXTS.slice(0, 12);
    const tunnels = [];
    for (const name of names) tunnels.push(made(await world.admin.post('/api/tunnels', { account_id, name })));
    await opens('/tunnels', names);
    await opens(`/tunnels?tunnel=${tunnels[4]?.id}`, [textAt(4)]);
    cloudflare.fault = () => ({
      status: 400,
      body: { success: false, errors: [{ code: 1000, message: ALL_WAYS }], result: null },
    });
    await world.admin.post(`/api/accounts/${account_id}/sync`);
    await opens(`/accounts/${account_id}`, [ALL_WAYS]);
    await opens(`/tunnels?tunnel=${tunnels[4]?.id}`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await inert(page, [ALL_WAYS]);
    await opens('/jobs');
    await opens('/');
    cloudflare.fault = null;
  });

  it('is text in failover rules and in why a target is down', async () => {
    const rule = {
      host: 't0',
      type: 'A',
      primary: ['127.0.0.1'],
      backup: ['127.0.0.2'],
      check: { kind: 'http', port: 9, path: '/"><img/src=x/onerror=xss()>', expect_body: ALL_WAYS },
    };
    done(await world.admin.post(`/api/domains/${world.domain}/failover`, { enabled: true, rules: [rule] }));
    const { rules } = done(await world.admin.get(`/api/domains/${world.domain}/failover`));
    await opens(`/domains/${world.domain}/failover`, ['t0']);
    await opens(`/domains/${world.domain}/failover?rule=${rules[0]?.id}`, [rule.check.path, ALL_WAYS]);
  });

  it('is text in what a vendor answers a publication', async () => {
    world.proxy.fault = async ({ method }, forward) =>
      method === 'PATCH' ? { status: 422, body: JSON.stringify({ error: ALL_WAYS }) } : forward();
    await opens(`/domains/${world.domain}`);
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('n');
    await page.getByLabel('Name', { exact: true }).fill('vendor');
    await page.getByLabel('Address', { exact: true }).fill('192.0.2.80');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'See the difference' }).click();
    await page.getByRole('button', { name: 'Publish 1 change' }).click();
    await inert(page, [ALL_WAYS]);
    world.proxy.fault = null;
  });

  it('is text in all settings, at the sign-in and in the title', async () => {
    const { admin, server } = world;
    const site_name = textAt(30) + textAt(5);
    done(await admin.put('/api/settings', { site_name }));
    const pictures = [...TEXTS.filter((text) => !text.startsWith('//')), ALL_WAYS, 'https://x.test/"),url("//x.test'];
    await each(pictures, 4, async (background_image) =>
      refused(await admin.put('/api/settings', { background_image }), 400, 400001),
    );
    done(await admin.put('/api/settings', { background_image: 'data:image/svg+xml,%3Csvg/onload=xss%28%29%3E' }));
    const channels = TEXTS.map((name) => ({
      type: 'webhook',
      name,
      config: { url: 'https://hooks.example.com/' },
      events: ['sync.failed'],
    }));
    done(await admin.put('/api/settings/notifications', { channels }));
    const rules = TEXTS.map((name) => ({ name, match: { action: name }, threshold: 1000, window_minutes: 5 }));
    done(await admin.put('/api/settings/audit-rules', { rules }));
    const providers = TEXTS.slice(0, 20).map((name, i) => ({
      key: `p${i}`,
      name,
      issuer: 'https://id.example.com',
      client_id: textAt(i + 20),
      client_secret: 'y',
    }));
    done(await admin.put('/api/settings/oauth', { enabled: true, providers }));
    done(
      await admin.put('/api/settings/smtp', {
        enabled: true,
        host: 'mail.example.com',
        username: ALL_WAYS,
        password: 'of-mail-4711',
        from: 'me@example.com',
      }),
    );
    secrets.push(/of-mail-4711/);
    await opens('/settings/general', [site_name]);
    await opens('/settings/notifications', TEXTS);
    await opens('/settings/audit-rules', TEXTS);
    await opens('/settings/oauth', TEXTS.slice(0, 20));
    await opens('/settings/smtp', [ALL_WAYS]);
    await opens('/profile', TEXTS.slice(0, 20));
    const stranger = await browser.open('/health/live');
    await watch(stranger.page);
    for (const back of ['javascript:xss()', '//x.test', '/\\x.test', 'data:text/html,<script>xss()</script>']) {
      await stranger.page.goto(`${server.url}/sign-in?back=${encodeURIComponent(back)}`);
      await inert(stranger.page, [site_name, ...TEXTS.slice(0, 20)]);
    }
    await stranger.page.goto(
      `${server.url}/oauth/callback?error=${encodeURIComponent(ALL_WAYS)}&error_description=${encodeURIComponent(ALL_WAYS)}&state=x`,
    );
    await stranger.page.getByRole('heading', { level: 1 }).waitFor();
    await inert(stranger.page, []);
    await stranger.page.context().close();
  });

  it('is text in the audit log, with the names of failed sign-ins and of browsers', async () => {
    const agent = { 'user-agent': textAt(4) };
    const wrong = { username: textAt(0), password: 'wrong-password' };
    await world.server.call('POST', '/api/auth/login', wrong, undefined, agent);
    await world.server.call('POST', '/api/auth/login', ADMIN, undefined, agent);
    const { list } = done(await world.admin.get('/api/audit/logs?limit=100&action=auth.*'));
    const [failed] = list.filter(({ action }) => action === 'auth.login_failed');
    await opens('/audit');
    await opens(`/audit?entry=${failed?.id}`, [textAt(4)]);
    await opens('/audit?action=team.*', TEXTS.slice(0, 5));
    await opens('/audit?action=settings.*');
    const settings = done(await world.admin.get('/api/audit/logs?limit=100&action=settings.*')).list;
    for (const { id } of settings.slice(0, 3)) await opens(`/audit?entry=${id}`);
    await opens('/profile', []);
  });

  it('is text in the palette, in the calls of the API, and at an address that nothing has', async () => {
    await opens('/system');
    await opens('/doors');
    await page.goto(
      `${world.server.url}/no/${encodeURIComponent(textAt(4))}?x=${encodeURIComponent(ALL_WAYS)}#${ALL_WAYS}`,
    );
    await nothing.waitFor();
    await inert(page, []);
    await opens(`/settings/${encodeURIComponent(textAt(4))}`);
    await opens(`/domains?keyword=${encodeURIComponent(textAt(4))}`);
    await page.getByRole('button', { name: 'API calls of this screen' }).click();
    await page
      .getByRole('complementary', { name: 'API calls of this screen' })
      .getByText('answered with 200')
      .first()
      .waitFor();
    await inert(page, [textAt(4)]);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill(textAt(4));
    await inert(page, [textAt(4)]);
  });

  it('asked nobody elsewhere for anything, and the policy of the page had nothing to refuse', () => {
    assert.deepEqual(elsewhere, []);
    assert.deepEqual(visit.complaints, []);
  });
});
