import { it, beforeAll, afterAll } from '@jest/globals';
import { startWorld, done, made } from '../support/world.js';
import { ConsoleBrowser, axeProblems } from '../support/console.js';
import { ADMIN } from '../support/server.js';
it('looks', async () => {
  const w: any = await startWorld('sqlite', {});
  const b = await ConsoleBrowser.start(w.server.url);
  try {
    const a = w.admin;
    for (const n of ['beta.example', 'gamma.example']) { await w.pdns.createZone(n); await a.post('/api/domains', { name: n, account_id: w.account }); }
    const tok = made(await a.post('/api/tokens', { name: 'certbot at web-1', preset: { name: 'acme', host: 'www' }, allowed_domains: [w.domain], end_time: '2027-06-01T00:00:00Z' })) as any;
    made(await a.post('/api/tokens', { name: 'router in Kiel', preset: { name: 'ddns', host: 'home' }, allowed_cidrs: ['127.0.0.0/8'] }));
    const r = made(await a.post('/api/tokens', { name: 'terraform', rules: [{ effect: 'allow', hosts: ['*.dev'], types: ['A', 'AAAA', 'CNAME'], values: { cidrs: ['10.0.0.0/8'] }, ttl: { min: 60, max: 3600 } }, { effect: 'deny', hosts: ['prod.dev'] }] })) as any;
    const c = w.server.as(r.token); for (let i = 0; i < 5; i++) await c.get('/api/tokens/self');
    for (const [u, role] of [['grace', 2], ['linus', 1], ['barbara', 1]] as const) made(await a.post('/api/users', { username: u, password: ADMIN.password, role, email: `${u}@example.com` }));
    const team = made(await a.post('/api/teams', { name: 'Web operations', description: 'Those who run the shops' })) as any;
    await a.post(`/api/teams/${team.id}/members`, { username: 'linus' });
    await a.post(`/api/teams/${team.id}/permissions`, { domain_id: w.domain, permission: 'write', host: '*.dev' });
    await a.post(w.records, { host: 'www', type: 'A', value: '192.0.2.7', ttl: 300 });
    await a.put('/api/settings', { site_name: 'Harbour DNS' });
    await a.put('/api/settings/notifications', { channels: [{ id: 'ops', name: 'Ops mail', type: 'email', config: { to: ['ops@example.com'] }, events: ['sync.failed', 'domain.expiring'] }] });
    await a.post('/api/system/backup', {});
    const shots: any[] = JSON.parse(process.env.SHOTS!);
    for (const [name, path, look = {}, steps = ''] of shots) {
      const v = await b.openAs(path, ADMIN, look);
      try {
        await v.page.getByRole('heading', { level: 1 }).waitFor({ timeout: 10000 });
        await v.page.waitForTimeout(700);
        if (steps) await new (Object.getPrototypeOf(async () => {}).constructor)('page', 'v', steps)(v.page, v);
        await v.page.waitForTimeout(300);
        await v.page.evaluate('window.scrollTo(0,0)');
        await v.page.screenshot({ path: `/tmp/shots/${name}.png`, fullPage: true });
        const wide = await v.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
        const axe = await axeProblems(v.page);
        process.stderr.write(`${name}: wide ${wide} complaints ${JSON.stringify(v.complaints)} axe ${axe.map((x) => '\n   ' + x.replace(/\n/g, ' ').slice(0, 260)).join('')}\n`);
      } catch (e: any) { await v.page.screenshot({ path: `/tmp/shots/${name}.png` }); process.stderr.write(`${name}: FAILED ${e.message}\n`); }
      await v.page.context().close();
    }
  } finally { await b.stop(); await w.stop(); }
});
