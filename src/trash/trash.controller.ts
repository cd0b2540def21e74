import { Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me, OnDomain, Role, signedIn } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { DomainDeleteQuery, DomainDetail, IfMatchDomain } from '../domains/domain.dto.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { type Conditions, Given } from '../platform/http/conditions.js';
import { DomainDeletion } from './domain-deletion.service.js';
import { RestoreQuery, TrashedList } from './trash.dto.js';
import { Trash } from './trash.service.js';

@ApiTags('Domains')
@Controller('domains')
export class DomainDeletionController {
  constructor(private readonly deletion: DomainDeletion) {}

  /**
   * Deletes a domain here, which is for its owner and for administrators. Nothing is touched at the provider; writes
   * that are on their way end first; while a long list is not done it is 409001, unless `force=true` cancels it. It is
   * in the trash for 30 days, with its records, history and permissions: `POST /api/trash/domains/:id/restore`.
   */
  @Delete(':domain_id')
  @Access({ domain: 'own' })
  @Fails('conflict', 'precondition', 'provider')
  @IfMatchDomain()
  @Audited('domain.delete')
  @ApiParam({ name: 'domain_id', type: 'integer' })
  remove(
    @OnDomain() domain: OpenDomain,
    @Query() { force }: DomainDeleteQuery,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<void> {
    return this.deletion.remove(me, domain, force ?? false, conditions);
  }
}

@ApiTags('Domains')
@Controller('trash/domains')
export class TrashController {
  constructor(private readonly trash: Trash) {}

  /** Deleted domains that can be restored, the last one first: one's own, for administrators all. */
  @Get()
  @Access({})
  async list(
    @Query() query: PageQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TrashedList> {
    const { total, list } = await this.trash.list(signedIn(me), query);
    pageHeaders(response, total, pageOf(query));
    return { total, list };
  }

  /**
   * Brings a deleted domain back, which is for its owner and for administrators: its id, owner, remark and rules, its
   * records with their ids, its history, and the permissions of teams that are still there. Then its records are read
   * at the provider; what has changed there meanwhile is a version with the door `provider`. 409001 where the account
   * has a domain of the name again. One that has the name of somebody else's domain by now, or lies below or above it,
   * is for administrators (403001), and asks them for `force=true` (409001).
   */
  @Post(':id/restore')
  @HttpCode(200)
  @Access({})
  @Fails('conflict')
  @Audited('domain.restore')
  restore(@Param('id', IdPipe) id: number, @Query() { force }: RestoreQuery, @Me() me: Caller): Promise<DomainDetail> {
    return this.trash.restore(me, id, force ?? false);
  }

  /** Removes a deleted domain for good, with its records, history and permissions. It is gone from here at once. */
  @Delete(':id')
  @Access({ role: Role.Super, noTokens: true })
  @Audited('domain.purge')
  purge(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.trash.purge(me, id);
  }
}
