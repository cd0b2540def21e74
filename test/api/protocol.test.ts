import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { Get, HttpCode, Post, Query } from '@nestjs/common';
import { IsIP, IsString } from 'class-validator';
import type { Request } from 'express';
import { Access, type Caller, Me, signedIn } from '../../src/access/access.js';
import { Audited } from '../../src/audit/audited.js';
import { DomainsService } from '../../src/domains/domains.service.js';
import { errors } from '../../src/platform/common/errors.js';
import { Installation } from '../../src/platform/database/installation.js';
import { Protocol, type ProtocolAdapter } from '../../src/platform/http/protocol.js';
import { applicationOf, type Service, startServiceWith } from '../support/server.js';
import { made } from '../support/world.js';

/** A protocol of plain text, with Basic authentication and no status but 200: what routers speak. */
const words: ProtocolAdapter = {
  prefix: '/words',
  // goes on in the context of the socket, as a parser may
  parse: (request, _response, next) => void request.resume().once('end', () => next()),
  strict: false,
  credential({ headers }: Request) {
    const [, basic = ''] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
    return Buffer.from(basic, 'base64').toString().split(':')[1] ?? null;
  },
  success(data, response) {
    response.type('text/plain');
    return `good ${data}`;
  },
  failure({ code, message }, response) {
    const word = code === 401001 ? 'badauth' : code === 404001 ? 'nohost' : `911 ${message}`;
    response.status(200).type('text/plain').send(word);
  },
};

class Update {
  @IsString()
  hostname!: string;

  @IsIP()
  myip!: string;
}

@Protocol(words)
class WordsController {
  constructor(private readonly domains: DomainsService) {}

  @Get('update')
  @Access({ scope: 'ddns' })
  update(@Query() { hostname, myip }: Update, @Me() me: Caller) {
    return `${myip} ${hostname} ${signedIn(me).username}`;
  }

  @Get('known')
  @Access({ scope: 'ddns' })
  async known(@Me() me: Caller) {
    return (await this.domains.list(signedIn(me), {})).total;
  }

  @Post('refused')
  @HttpCode(200)
  @Access({ scope: 'ddns' })
  @Audited('words.refused' as 'record.refused')
  refused(): never {
    throw errors.conflict('busy');
  }
}

describe('a controller of a foreign protocol', () => {
  let service: Service;
  let basic: string;

  beforeAll(async () => {
    service = await startServiceWith('sqlite', [WordsController]);
    basic = await basicOf(['ddns']);
  });
  afterAll(() => service.stop());

  const basicOf = async (allowed_services: string[]) => {
    const answer = await service.admin.post('/api/tokens', { name: allowed_services.join(), allowed_services });
    const { token } = made(answer) as { token: string };
    return `Basic ${Buffer.from(`router:${token}`).toString('base64')}`;
  };

  const ask = async (path: string, authorization = basic, init: RequestInit = {}) => {
    const headers = new Headers(authorization ? { authorization } : {});
    const response = await fetch(`${service.server.url}${path}`, { headers, ...init });
    return `${response.status} ${await response.text()}`;
  };

  it('answers below its prefix in its own words, as the user of the token that its credential carries', async () => {
    assert.equal(await ask('/words/update?hostname=a.example&myip=192.0.2.1'), '200 good 192.0.2.1 a.example admin');
    assert.equal(await ask('/words/known'), '200 good 0');
  });

  it('leaves unknown fields of the query aside, and says in its own words what is wrong with known ones', async () => {
    assert.equal(
      await ask('/words/update?hostname=a.example&myip=192.0.2.1&offline=no'),
      '200 good 192.0.2.1 a.example admin',
    );
    assert.match(await ask('/words/update?hostname=a.example&myip=x'), /^200 911 .*myip/);
    assert.equal(await ask('/words/known?offline=no'), '200 good 0');
  });

  it('answers failures of the guard, of unknown paths, of methods and of handlers in its own words', async () => {
    assert.equal(await ask('/words/known', 'Basic eDp5'), '200 badauth');
    assert.equal(await ask('/words/known', ''), '200 badauth');
    assert.equal(await ask('/words/nothing'), '200 nohost');
    assert.match(await ask('/words/known', basic, { method: 'DELETE' }), /^200 911 /);
    assert.equal(
      await ask('/words/refused', basic, { method: 'POST', body: 'no JSON' }),
      '200 911 Somebody else is changing this right now; try again',
    );
  });

  it('is held to scopes, and to the audit log', async () => {
    assert.match(await ask('/words/known', await basicOf(['audit:read'])), /^200 911 /);
    const log = await service.admin.get('/api/audit/logs');
    assert.ok(log.data.list.some(({ action, result }) => action === 'words.refused' && result === 'failed'));
  });

  it('changes nothing of our own API', async () => {
    const page = await fetch(`${service.server.url}/words/known`, { headers: { authorization: basic } });
    assert.equal(page.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal((await ask('/api/domains', basic)).slice(0, 10), '401 {"code');
    const answer = await service.admin.get('/api/domains');
    assert.deepEqual([answer.status, answer.code, answer.data], [200, 0, []]);
    const description = await (await fetch(`${service.server.url}/api/openapi.json`)).text();
    assert.ok(!description.includes('/words/'));
  });

  it('is refused in a copy that is paused, by GET too', async () => {
    const installation = applicationOf(service.server.dataDir)?.get(Installation) as Installation;
    installation.assertWorks = () => {
      throw errors.notReady('database_down');
    };
    assert.equal(await ask('/words/known'), '200 911 The database is down; trying again');
  });
});

describe('the prefix of a foreign protocol', () => {
  it('cannot take the paths of other controllers', async () => {
    for (const prefix of ['/domains', '/api', 'words', '/']) {
      @Protocol({ ...words, prefix })
      class Elsewhere {}
      await assert.rejects(startServiceWith('sqlite', [Elsewhere]), /is no prefix|begins as/);
    }
  });
});
