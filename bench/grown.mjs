// An installation of any size, for a freshly migrated database that contains only the administrator: the SQL that makes
// it (`grown.sql`), and the requests whose cost must not grow with it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SQL = readFileSync(join(import.meta.dirname, 'grown.sql'), 'utf8').replace(/^--.*\n/gm, '');
const DIGITS = Array.from({ length: 10 }, (_, d) => `SELECT ${d}${d ? '' : ' AS d'}`).join(' UNION ALL ');
const DAY_MS = 86_400_000;
const ACCOUNTS = 20;

const name = (n) => `zone-${100_000 + n}.example`;

/** A table `s` of the numbers `n` from 1 to a bound, each with a time of the month before last that grows with it. */
function rows(bound) {
  const places = String(bound).length;
  const digit = (place) => (place < places ? `d${place}.d` : '0');
  const n = Array.from({ length: places }, (_, i) => `${10 ** i} * d${i}.d`).join(' + ');
  const month = new Date(Date.now() - 61 * DAY_MS).toISOString().slice(0, 8);
  const parts = [`'${month}1'`, digit(6), "'T1'", digit(5), "':0'", digit(4), "':0'", digit(3), "'.'"];
  const at = `CONCAT(${[...parts, digit(2), digit(1), digit(0), "'Z'"].join(', ')})`;
  const from = Array.from({ length: places }, (_, i) => `(${DIGITS}) d${i}`).join(' CROSS JOIN ');
  return `(SELECT * FROM (SELECT ${n} AS n, ${at} AS at FROM ${from}) a WHERE n BETWEEN 1 AND ${bound}) s`;
}

/**
 * The statements that fill a database.
 * @param size `{count, each}`: domains, users, teams and tokens; records and audit entries for each of them
 * @param password hash of the password of all users
 */
export function statements({ count, each }, password = '-') {
  const moment = (days) => `'${new Date(Date.now() + days * DAY_MS).toISOString()}'`;
  const words = {
    ...{ count, each, large: Math.floor((each * count) / 10), ten: `(${DIGITS}) k`, password: `'${password}'` },
    ...{ today: moment(0), soon: moment(5), later: moment(20_000) },
  };
  const bounds = {
    ...{ accounts: ACCOUNTS, count, '2 * count': 2 * count, '10 * count': 10 * count, 'each * count': each * count },
  };
  return SQL.split(/;\n+/)
    .filter((text) => text.trim())
    .map((text) =>
      text
        .replace(/\{rows ([^}]+)\}/g, (_, bound) => rows(bounds[bound]))
        .replace(/\{(\w+)\}/g, (_, word) => String(words[word])),
    );
}

/**
 * Requests by name: what is sent, and by whom. `body(n)`: of the nth call.
 * @param size as of `statements`
 * @param small id of a domain that a provider has
 */
export function requests({ count, each }, small) {
  const last = (of) => Math.ceil(of / 20);
  const get = (path, more = {}) => ({ path, ...more });
  const [user, session] = [{ who: 'user' }, { who: 'session' }];
  const record = (n) => ({ host: `n${n}`, type: 'A', value: '192.0.2.1', ttl: 600 });
  return {
    'token check': get('/api/tokens/self', user),
    'session: me': get('/api/auth/me', session),
    'session: bootstrap': get('/api/bootstrap', session),
    login: {
      method: 'POST',
      path: '/api/auth/login',
      who: 'nobody',
      body: (n) => ({ username: `user-${1 + (n % 5)}`, password: 'x' }),
    },
    'domains, of a user': get('/api/domains?limit=20', user),
    'domains, of a user, keyword': get('/api/domains?limit=20&keyword=zone-10', user),
    'domains, first page': get('/api/domains?limit=20'),
    'domains, last page': get(`/api/domains?limit=20&page=${last(count)}`),
    'domains by expiry': get('/api/domains?limit=20&sort=expires_at'),
    'domains by records': get('/api/domains?limit=20&sort=-records_count'),
    'domains, keyword of one': get(`/api/domains?limit=20&keyword=${name(count)}`),
    'domains, name': get(`/api/domains?limit=20&name=${name(count)}`),
    'domains, status': get('/api/domains?limit=20&status=missing'),
    'domains, account': get('/api/domains?limit=20&account_id=3'),
    'domains, team': get(`/api/domains?limit=20&team_id=${count}`),
    'domains, provider': get('/api/domains?limit=20&provider=powerdns'),
    'one domain, of a user': get('/api/domains/1', user),
    'records of the large zone, of a user': get('/api/domains/1/records?limit=20', user),
    'records, host': get('/api/domains/1/records?limit=20&host=host-7'),
    'records, type': get('/api/domains/1/records?limit=20&type=TXT'),
    'records, last page': get(`/api/domains/1/records?limit=20&page=${last((each * count) / 10)}`),
    'records, middle page': get(`/api/domains/1/records?limit=20&page=${last((each * count) / 20)}`),
    'records by value': get('/api/domains/1/records?limit=20&sort=value'),
    'records, keyword': get('/api/domains/1/records?limit=20&keyword=needle'),
    'one record': get('/api/domains/1/records/8'),
    'record set of the large zone': get('/api/domains/1/rrsets/host-11/A'),
    search: get('/api/records?limit=20'),
    'search, last page': get(`/api/records?limit=20&page=${last(each * count)}`),
    'search, host of few': get('/api/records?limit=20&host=host-99'),
    'search, host of many': get('/api/records?limit=20&host=www'),
    'search, type': get('/api/records?limit=20&type=MX'),
    'search, value': get('/api/records?limit=20&value=mail-9.example.net'),
    'search, keyword of few': get('/api/records?limit=20&keyword=needle'),
    'search, keyword of all': get('/api/records?limit=20&keyword=example'),
    'search, keyword by host': get('/api/records?limit=20&keyword=needle&sort=host'),
    'search, disabled': get('/api/records?limit=20&enabled=false'),
    'search, account': get('/api/records?limit=20&account_id=3'),
    'search, account, last page': get(`/api/records?limit=20&account_id=3&page=${last((each * count * 9) / 200)}`),
    'search by host': get('/api/records?limit=20&sort=host'),
    'search, of a user': get('/api/records?limit=20', user),
    'search, of a user, last page': get(`/api/records?limit=20&page=${last((each * count) / 10)}`, user),
    'search, of a user, host': get('/api/records?limit=20&host=host-5', user),
    'search, of a user, keyword': get('/api/records?limit=20&keyword=needle', user),
    dashboard: get('/api/dashboard'),
    'dashboard, of a user': get('/api/dashboard', user),
    changes: get('/api/changes?limit=20'),
    'changes, last page': get(`/api/changes?limit=20&page=${last(10 * count)}`),
    'changes, state': get('/api/changes?limit=20&state=unknown'),
    'changes, door of few': get('/api/changes?limit=20&door=import'),
    'changes, actor': get('/api/changes?limit=20&actor=7'),
    'changes, host': get('/api/changes?limit=20&host=host-5'),
    'changes, of a user': get('/api/changes?limit=20', user),
    'changes of a domain': get('/api/domains/1/changes?limit=20'),
    'versions of a domain': get('/api/domains/1/versions?limit=20'),
    'plans of a domain': get('/api/domains/1/plans?limit=20'),
    'grants on a domain': get('/api/domains/1/permissions?limit=20'),
    'certificates of a domain': get('/api/domains/1/certificates?limit=20'),
    users: get('/api/users?limit=20'),
    'users, last page': get(`/api/users?limit=20&page=${last(count)}`),
    'users by login': get('/api/users?limit=20&sort=-last_login_at'),
    'users, keyword': get('/api/users?limit=20&keyword=user-7'),
    'users, role': get('/api/users?limit=20&role=3'),
    teams: get('/api/teams?limit=20'),
    'teams, last page': get(`/api/teams?limit=20&page=${last(count)}`),
    'teams, of a user': get('/api/teams?limit=20', user),
    'team members': get('/api/teams/7/members?limit=20'),
    'grants of a team': get('/api/teams/7/permissions?limit=20'),
    'tokens, of a user': get('/api/tokens?limit=20', session),
    'domains for tokens': get('/api/tokens/domains?limit=20', session),
    accounts: get('/api/accounts?limit=20'),
    trash: get('/api/trash/domains?limit=20'),
    audit: get('/api/audit/logs?limit=20'),
    'audit, page 100': get(`/api/audit/logs?limit=20&page=${Math.min(100, last(each * count))}`),
    'audit, user': get('/api/audit/logs?limit=20&user=user-7'),
    'audit, domain': get(`/api/audit/logs?limit=20&domain=${name(7)}`),
    'audit, action of few': get('/api/audit/logs?limit=20&action=team.create'),
    'audit, action of many': get('/api/audit/logs?limit=20&action=record.update'),
    'audit, result': get('/api/audit/logs?limit=20&result=failed'),
    'audit, keyword': get('/api/audit/logs?limit=20&keyword=nowhere'),
    'system: status': get('/api/system/status'),
    'system: database': get('/api/system/database'),
    'system: logins': get('/api/system/login-stats'),
    'system: jobs': get('/api/system/jobs?limit=20'),
    'system: notifications': get('/api/system/notifications?limit=20'),
    create: { method: 'POST', path: `/api/domains/${small}/records`, body: record },
    plan: {
      method: 'POST',
      path: `/api/domains/${small}/plans`,
      body: (n) => ({ changes: [{ op: 'create', ...record(n) }] }),
    },
  };
}
