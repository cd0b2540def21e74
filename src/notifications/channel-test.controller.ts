import { Controller, HttpCode, Param, type PipeTransform, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { errors } from '../platform/common/errors.js';
import { CHANNEL_ID } from '../settings/channels.dto.js';
import { ChannelTest } from './channel-test.service.js';
import { ChannelTestResult } from './deliveries.dto.js';

const ChannelPipe: PipeTransform<string, string> = {
  transform: (value) => {
    if (!CHANNEL_ID.test(value)) throw errors.notFound('channel');
    return value;
  },
};

@ApiTags('Settings')
@Controller('settings/notifications')
export class ChannelTestController {
  constructor(private readonly channels: ChannelTest) {}

  /**
   * Sends a test message through a stored channel, also while it is off, and tells in plain words how it went. Takes
   * ten seconds at most.
   */
  @Post(':id/test')
  @HttpCode(200)
  @ApiParam({ name: 'id', schema: { type: 'string', pattern: CHANNEL_ID.source } })
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.notifications_test')
  test(@Param('id', ChannelPipe) id: string, @Me() me: Caller): Promise<ChannelTestResult> {
    return this.channels.send(id, me);
  }
}
