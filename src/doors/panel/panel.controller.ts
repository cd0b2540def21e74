import { Body, Delete, Get, HttpCode, Param, Post, Put, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Access, type Caller, Me, OnDomain, signedIn } from '../../access/access.js';
import { FRONT_DOORS, type FrontDoor } from '../../access/doors.js';
import { Audited } from '../../audit/audited.js';
import { RecordInput, RecordPatch } from '../../changes/edits/record.dto.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { IdPipe } from '../../platform/common/validation.js';
import { Protocol } from '../../platform/http/protocol.js';
import { RecordQuery } from '../../records/records.dto.js';
import { RecordsService } from '../../records/records.service.js';
import { type PanelDomain, PanelDomainQuery, type PanelRecord, panelRecord } from './panel.dto.js';
import { CERTD, DDNS_GO } from './panel.protocol.js';

/** The routes that clients of the panel call, for tokens of a door's scope. */
const panelOf = (door: FrontDoor) => {
  const { scope } = FRONT_DOORS[door];

  @Access({ narrowed: true, scope })
  abstract class PanelController {
    constructor(
      readonly domains: DomainsService,
      readonly records: RecordsService,
    ) {}

    @Get()
    async list(@Query() query: PanelDomainQuery, @Me() me: Caller): Promise<PanelDomain[]> {
      if (query.pageSize !== undefined) query.limit ??= query.pageSize;
      const { list } = await this.domains.list(signedIn(me), query);
      return list.map(({ id, name }) => ({ id, name }));
    }

    @Get(':domain_id/records')
    @Access({ domain: 'read', scope })
    async held(
      @OnDomain() domain: OpenDomain,
      @Query() query: RecordQuery,
      @Req() { socket }: Request,
      @Me() me: Caller,
    ): Promise<{ total: number; list: PanelRecord[] }> {
      const { total, list } = await this.records.list(me, domain, query, () => socket.destroyed);
      return { total, list: list.map(panelRecord) };
    }

    @Post(':domain_id/records')
    @HttpCode(200)
    @Access({ domain: 'records', scope })
    @Audited('record.create')
    async create(@OnDomain() domain: OpenDomain, @Body() body: RecordInput, @Me() me: Caller): Promise<{ id: string }> {
      return { id: String((await this.records.create(me, domain, body)).id) };
    }

    @Put(':domain_id/records/:record_id')
    @Access({ domain: 'records', scope })
    @Audited('record.update')
    async update(
      @OnDomain() domain: OpenDomain,
      @Param('record_id', IdPipe) id: number,
      @Body() body: RecordPatch,
      @Me() me: Caller,
    ): Promise<PanelRecord> {
      return panelRecord(await this.records.update(me, domain, id, body));
    }

    @Delete(':domain_id/records/:record_id')
    @Access({ domain: 'records', scope })
    @Audited('record.delete')
    remove(@OnDomain() domain: OpenDomain, @Param('record_id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
      return this.records.remove(me, domain, id);
    }
  }
  return PanelController;
};

@Protocol(DDNS_GO, 'api/domains')
export class DdnsGoController extends panelOf('ddns-go') {}

@Protocol(CERTD, 'api/domains')
export class CertdController extends panelOf('certd') {}
