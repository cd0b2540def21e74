// The lower bound: the cost of the same answers with node:http and prepared statements of the driver alone. Same token
// look-up, domain check, queries and JSON as the service; no framework, no validation, only the necessary headers.
//   node floor.mjs <url of the database> http|express|nest    within nothing, or the plainest handler of these two
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { Controller, Get, Module, Param, ParseIntPipe, Query, Req, Res, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { Type } from 'class-transformer';
import { IsInt } from 'class-validator';
import express from 'express';
import passport from 'passport';
import { Strategy } from 'passport-custom';
import { map } from 'rxjs';
import { open } from './sql.mjs';

/** The page that the benchmark requests. */
const PAGE = 20;

const TOKEN = `SELECT t.id, t.user_id, t.name, t.narrowed, t.allowed_domains, t.allowed_services, t.allowed_cidrs, t.rules,
    t.max_unused_days, t.start_time, t.end_time, t.max_role, t.is_active, t.created_at, t.last_used_at, u.username, u.role, u.status,
    CASE WHEN u.totp_enabled OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id) THEN 1 ELSE 0 END AS has_factor,
    (SELECT content FROM settings WHERE name = 'security') AS security
  FROM api_tokens t JOIN users u ON u.id = t.user_id WHERE t.token_hash = ? OR (t.previous_hash = ? AND t.previous_until > ?)`;
const DOMAIN_COLUMNS = `d.id, d.name, d.apart, d.remote_id, d.account_id, a.name AS account_name, a.provider, d.owner_id, d.status,
  d.remark, d.records_count, d.revision, d.expires_at, d.created_at, d.synced_at`;
const DOMAIN = `SELECT ${DOMAIN_COLUMNS}, 2 AS level, NULL AS host
  FROM domains d JOIN dns_accounts a ON a.id = d.account_id WHERE d.id = ?`;
const RECORDS = `SELECT id, domain_id, remote_id, host, type, value, ttl, line, proxied, priority, weight, enabled,
  read_only, read_only_reason, expires_at, end_hold_reason, pending, remark, updated_at, created_at
  FROM dns_records WHERE domain_id = ? ORDER BY id ASC LIMIT ? OFFSET ?`;
const GRANTS = (team, own, union, one) =>
  `SELECT p.domain_id AS id, ${team} FROM team_members m JOIN domain_permissions p ON p.team_id = m.team_id
    WHERE m.user_id = ?${one.replace('id', 'p.domain_id')}
    ${union} SELECT o.id, ${own} FROM domains o WHERE o.owner_id = ?${one.replace('id', 'o.id')}`;
const SOURCES = `SELECT team_id FROM team_members WHERE user_id = ?
  UNION ALL SELECT NULL FROM users u WHERE u.id = ? AND EXISTS (SELECT 1 FROM domains o WHERE o.owner_id = u.id)`;
// users of the benchmark are in one team each and own nothing
const FIRST = `SELECT id, name FROM (SELECT DISTINCT p.domain_id AS id, p.domain_name AS name FROM domain_permissions p WHERE p.team_id = ?
  ORDER BY name ASC, id ASC LIMIT ${PAGE}) s0`;
const DOMAINS = `SELECT ${DOMAIN_COLUMNS} FROM (SELECT mine.id, mine.name FROM (${FIRST}) mine WHERE 1 = 1
  ORDER BY mine.name ASC, mine.id ASC LIMIT ? OFFSET ?) mine
  JOIN domains d ON d.id = mine.id JOIN dns_accounts a ON a.id = d.account_id ORDER BY mine.name ASC, mine.id ASC`;
const LEVEL = `CASE WHEN p.permission = 'write' AND p.host IS NULL THEN 2 ELSE 1 END AS level,
  CASE WHEN p.permission = 'write' THEN p.host END AS host`;
const LEVELS = (count) =>
  GRANTS(LEVEL, '2 AS level, NULL AS host', 'UNION ALL', ` AND id IN (${Array(count).fill('?').join(', ')})`);
const COUNT = 'SELECT COUNT(*) AS n FROM domain_permissions p WHERE p.team_id = ? AND p.repeated IS NULL';

const db = open(process.argv[2]);
const findToken = db.prepare(TOKEN);
const findDomain = db.prepare(DOMAIN);
const findRecords = db.prepare(RECORDS);
const findSources = db.prepare(SOURCES);
const findDomains = db.prepare(DOMAINS);
const findLevels = db.prepare(LEVELS(PAGE));
const countDomains = db.prepare(COUNT);
const unicode = (name) => (name.includes('xn--') ? null : name); // the seed has no IDN names

const recordView = (row, domain) => ({
  id: row.id,
  host: row.host,
  type: row.type,
  value: row.value,
  ttl: row.ttl,
  line: row.line,
  proxied: Boolean(row.proxied),
  priority: row.priority,
  weight: row.weight,
  enabled: Boolean(row.enabled),
  remark: row.remark,
  read_only: Boolean(row.read_only),
  expires_at: row.expires_at,
  end_hold_reason: row.end_hold_reason,
  read_only_reason: row.read_only ? row.read_only_reason : null,
  pending: Boolean(row.pending),
  unicode_host: unicode(row.host),
  synced_at: domain.synced_at && domain.synced_at > row.updated_at ? domain.synced_at : row.updated_at,
  updated_at: row.updated_at,
  created_at: row.created_at ?? row.updated_at,
});

const domainView = (row, level) => ({
  id: row.id,
  name: row.name,
  unicode_name: unicode(row.name),
  account_id: row.account_id,
  account_name: row.account_name,
  provider: row.provider,
  owner_id: row.owner_id,
  remote_id: row.remote_id,
  private: row.apart !== '',
  status: row.status,
  records_count: row.records_count,
  permission: level >= 2 ? 'write' : 'read',
  write_hosts: null, // no user of the seed is limited to hosts
  expires_at: row.expires_at,
  created_at: row.created_at,
  synced_at: row.synced_at,
  remark: row.remark,
});

// SQLite returns rows synchronously: awaiting them would only slow the lower bound down
const then = (rows, work) => (rows instanceof Promise ? rows.then(work) : work(rows));

function assertValid(token, moment) {
  if (!token?.is_active || token.status !== 1) throw new Error('the token is not valid');
  if ((token.start_time && moment < token.start_time) || (token.end_time && moment > token.end_time))
    throw new Error('the token is not valid');
}

/** The token of a request, once it was found to be valid. */
function tokenOf(request) {
  const credential = request.headers.authorization.slice('Bearer '.length);
  const hash = createHash('sha256').update(credential).digest('hex');
  const moment = new Date().toISOString();
  return then(findToken([hash, hash, moment]), ([token]) => {
    assertValid(token, moment);
    return token;
  });
}

function recordsOf(token, id, limit) {
  const allowed = token.narrowed ? JSON.parse(token.allowed_domains) : null;
  if (allowed && !allowed.includes(id)) throw new Error('not a domain of the token');
  return then(findDomain([id]), ([domain]) =>
    then(findRecords([id, limit, 0]), (rows) => ({
      total: domain.records_count,
      list: rows.map((row) => recordView(row, domain)),
    })),
  );
}

function domainsOf(token, limit, response) {
  return then(findSources([token.user_id, token.user_id]), ([{ team_id }]) =>
    then(findDomains([team_id, limit, 0]), (rows) => {
      const ids = rows.map((row) => row.id);
      return then(findLevels([token.user_id, ...ids, token.user_id, ...ids]), (found) => {
        const levels = new Map(found.map((row) => [row.id, Number(row.level)]));
        return then(countDomains([team_id]), ([{ n }]) => {
          response.setHeader('X-Total-Count', String(n));
          return rows.map((row) => domainView(row, levels.get(row.id)));
        });
      });
    }),
  );
}

const enveloped = (data) => ({ code: 0, data, msg: 'success' });

function answer(request, response) {
  const [path, query] = request.url.split('?');
  const limit = Number(new URLSearchParams(query).get('limit'));
  const records = /^\/api\/domains\/(\d+)\/records$/.exec(path);
  return then(tokenOf(request), (token) =>
    then(records ? recordsOf(token, Number(records[1]), limit) : domainsOf(token, limit, response), (data) => {
      const body = JSON.stringify(enveloped(data));
      response.writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
      });
      response.end(body);
    }),
  );
}

const handler = (request, response) => {
  const failed = (error) => response.writeHead(500, { 'Content-Length': 0 }).end(console.error(error));
  try {
    Promise.resolve(answer(request, response)).catch(failed);
  } catch (error) {
    failed(error);
  }
};

/** As Nest has it at the least: a guard of Passport, a validated query, an interceptor of the envelope. */
async function nest() {
  const guard = new (AuthGuard('token'))();
  passport.use('token', new Strategy((request, done) => then(tokenOf(request), (token) => done(null, token))));
  class Paging {}
  IsInt()(Paging.prototype, 'limit');
  Type(() => Number)(Paging.prototype, 'limit');
  class Lists {
    records(id, { limit }, request) {
      return recordsOf(request.user, id, limit);
    }
    domains({ limit }, request, response) {
      return domainsOf(request.user, limit, response);
    }
  }
  const route = (name, path, parameters) => {
    Reflect.defineMetadata('design:paramtypes', parameters, Lists.prototype, name);
    Get(path)(Lists.prototype, name, Object.getOwnPropertyDescriptor(Lists.prototype, name));
  };
  Param('id', ParseIntPipe)(Lists.prototype, 'records', 0);
  Query()(Lists.prototype, 'records', 1);
  Req()(Lists.prototype, 'records', 2);
  route('records', ':id/records', [Number, Paging, Object]);
  Query()(Lists.prototype, 'domains', 0);
  Req()(Lists.prototype, 'domains', 1);
  Res({ passthrough: true })(Lists.prototype, 'domains', 2);
  route('domains', '', [Paging, Object, Object]);
  Controller('api/domains')(Lists);
  class App {}
  Module({ controllers: [Lists] })(App);
  const app = await NestFactory.create(App, { logger: false });
  app.useGlobalGuards(guard);
  app.useGlobalPipes(new ValidationPipe({ transform: true }));
  app.useGlobalInterceptors({ intercept: (_context, next) => next.handle().pipe(map(enveloped)) });
  await app.init();
  return app.getHttpAdapter().getInstance();
}

const WITHIN = { http: () => handler, express: () => express().use(handler), nest };
const server = createServer(await WITHIN[process.argv[3]]());
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
