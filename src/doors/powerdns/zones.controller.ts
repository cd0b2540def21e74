import { Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Req, Res, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Access, type Caller, Fails, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { relativeName } from '../../dns/names.js';
import { errors } from '../../platform/common/errors.js';
import { say } from '../../platform/common/words/field-text.js';
import { Protocol } from '../../platform/http/protocol.js';
import { inPieces } from './answers.js';
import { canonicalName } from './changes.js';
import { POWERDNS, wantsJson } from './powerdns.protocol.js';
import { PowerdnsWrites } from './writes.service.js';
import { zoneItem } from './zone-views.js';
import { PowerdnsZones } from './zones.service.js';

type Fields = Record<string, unknown>;

/**
 * Zones. Their bodies are read by the door itself: a zone has more fields than a body of our own API may have. Making,
 * changing and deleting one takes what our own routes take.
 */
@Protocol(POWERDNS, 'api/v1/servers/localhost/zones')
@Access({ scope: 'powerdns', narrowed: true })
export class PowerdnsZonesController {
  constructor(
    private readonly zones: PowerdnsZones,
    private readonly writes: PowerdnsWrites,
  ) {}

  @Get()
  async list(@Query() query: Fields, @Me() me: Caller): Promise<object[] | StreamableFile> {
    const signing = flagOf(query, 'dnssec');
    if (query.zone === undefined) return inPieces(this.zones.list(me, signing));
    const domain = await this.zones.find(me, String(query.zone));
    return domain ? [zoneItem(domain, signing)] : [];
  }

  @Post()
  @Access({})
  @Fails('provider')
  @Audited('domain.create')
  async create(@Req() { body, socket }: Request, @Me() me: Caller): Promise<StreamableFile> {
    const domain = await this.writes.create(me, body);
    return inPieces(this.zones.show(domain, { rrsets: true }, () => socket.destroyed));
  }

  @Get(':zone_id')
  async show(
    @Param('zone_id') id: string,
    @Query() query: Fields,
    @Req() { socket }: Request,
    @Me() me: Caller,
  ): Promise<StreamableFile> {
    const { rrset_name: name, rrset_type: type } = query;
    const rrsets = flagOf(query, 'rrsets');
    const domain = await this.zones.open(me, id);
    const wish = {
      rrsets,
      // a name outside is of no set
      host: name === undefined ? undefined : (relativeName(canonicalName(name, 'rrset_name'), domain.name) ?? ''),
      type: type === undefined ? undefined : String(type).toUpperCase(),
    };
    return inPieces(this.zones.show(domain, wish, () => socket.destroyed));
  }

  @Patch(':zone_id')
  @HttpCode(204)
  @Fails('provider')
  @Audited('record.update')
  async patch(
    @Param('zone_id') id: string,
    @Req() { body }: Request,
    @Res({ passthrough: true }) response: Response,
    @Me() me: Caller,
  ): Promise<void> {
    const { before, after } = await this.writes.patch(me, id, body);
    response.setHeader('X-PDNS-Old-Serial', before);
    response.setHeader('X-PDNS-New-Serial', after);
  }

  @Put(':zone_id')
  @HttpCode(204)
  @Access({ narrowed: true })
  @Audited('domain.update')
  update(@Param('zone_id') id: string, @Req() { body }: Request, @Me() me: Caller): Promise<void> {
    return this.writes.update(me, id, body);
  }

  @Delete(':zone_id')
  @HttpCode(204)
  @Access({ narrowed: true })
  @Audited('domain.delete')
  remove(@Param('zone_id') id: string, @Me() me: Caller): Promise<void> {
    return this.writes.remove(me, id);
  }

  @Put(':zone_id/notify')
  @HttpCode(200)
  async notify(@Param('zone_id') id: string, @Me() me: Caller): Promise<object> {
    await this.zones.open(me, id);
    return { result: 'Notification queued' };
  }

  @Put(':zone_id/rectify')
  @HttpCode(200)
  async rectify(@Param('zone_id') id: string, @Me() me: Caller): Promise<object> {
    await this.zones.open(me, id);
    return { result: 'Rectified' };
  }

  @Put(':zone_id/axfr-retrieve')
  async retrieve(@Param('zone_id') id: string, @Me() me: Caller): Promise<never> {
    await this.zones.open(me, id);
    throw errors.field('kind', 'is a primary zone: nothing is transferred from elsewhere', 'conflict');
  }

  /** Keys and metadata are the provider's own. */
  @Get([':zone_id/cryptokeys', ':zone_id/metadata'])
  async none(@Param('zone_id') id: string, @Me() me: Caller): Promise<never[]> {
    await this.zones.open(me, id);
    return [];
  }

  @Get(':zone_id/metadata/:kind')
  async metadata(@Param('zone_id') id: string, @Param('kind') kind: string, @Me() me: Caller): Promise<object> {
    await this.zones.open(me, id);
    return { kind, metadata: [], type: 'Metadata' };
  }

  @Get(':zone_id/export')
  async export(@Param('zone_id') id: string, @Req() request: Request, @Me() me: Caller): Promise<StreamableFile> {
    const lines = this.zones.lines(await this.zones.open(me, id), () => request.socket.destroyed);
    return request.get('accept') && wantsJson(request)
      ? inPieces(inZone(lines))
      : inPieces(lines, 'text/plain; charset=utf-8');
  }
}

async function* inZone(lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield '{"zone":"';
  for await (const line of lines) yield JSON.stringify(line).slice(1, -1);
  yield '"}';
}

/** A flag of a query that is true unless it says otherwise. @throws AppError 400001 */
function flagOf(query: Fields, name: string): boolean {
  const { [name]: value = 'true' } = query;
  if (value === 'true' || value === 'false') return value === 'true';
  throw errors.field(name, say('must be one of {values}', { values: 'true, false' }), 'choice');
}
