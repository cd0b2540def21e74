import { Body, Controller, Delete, Get, Param, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { IdPipe } from '../../platform/common/validation.js';
import { TsigKeyCreated, TsigKeyInput, TsigKeyUpdate, TsigKeyView } from './rfc2136.dto.js';
import { TsigKeysService } from './tsig-keys.service.js';

@ApiTags('API tokens')
@Access({ noTokens: true })
@Controller('tokens/:id/tsig-key')
export class TsigKeysController {
  constructor(private readonly keys: TsigKeysService) {}

  /** The TSIG key of one of the caller's tokens, without its secret. Answers 404001 where the token has none. */
  @Get()
  get(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<TsigKeyView> {
    return this.keys.get(me, id);
  }

  /**
   * A key that signs dynamic updates and zone transfers: docs/doors/rfc2136.md. It can do what its token may, and ends
   * with it. A token has one key: the one before is refused from the very next message on. `data.secret` is shown this
   * once.
   */
  @Post()
  @Audited('door.key_create')
  create(@Param('id', IdPipe) id: number, @Body() body: TsigKeyInput, @Me() me: Caller): Promise<TsigKeyCreated> {
    return this.keys.create(me, id, body);
  }

  /**
   * Which secondaries are told of changes of the zones that the key may transfer, in messages signed with it. They stay
   * when it is replaced.
   */
  @Put()
  @Audited('door.key_update')
  update(@Param('id', IdPipe) id: number, @Body() body: TsigKeyUpdate, @Me() me: Caller): Promise<TsigKeyView> {
    return this.keys.update(me, id, body);
  }

  /** The key is refused from the very next message on. */
  @Delete()
  @Audited('door.key_delete')
  remove(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.keys.remove(me, id);
  }
}
