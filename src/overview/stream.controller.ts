import { Controller, Get, Headers, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiHeader, ApiOkResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type ZoneRequest } from '../access/access.js';
import { EVENT_CLASSES, STREAM_EVENTS } from './stream.dto.js';
import { Streams } from './streams.service.js';

@ApiTags('Site')
@Controller('events')
export class StreamController {
  constructor(private readonly streams: Streams) {}

  /**
   * A stream of what happens, as server-sent events. `event` names it, `data` is JSON: `records.changed`,
   * `records.synced`, `failover.switched` and `domain.created` of domains that the caller may read at that moment,
   * `domain.removed` of those that the caller could read, `account.synced`, `settings.changed`, `job.started`,
   * `job.progress`, `job.done` and `job.failed` for administrators (`settings.changed` of the section `general` for
   * everybody; of jobs that come again and again only that they begin to fail, and the first run that ends well after
   * that). API tokens need the scope of the route that tells the same (`records:read`, `domains:read`,
   * `accounts:read` for accounts and the jobs that synchronise them, else `*`); those that are narrowed are told of
   * their domains only. It begins with `ready`; with `Last-Event-ID` it goes on behind that event instead, whichever
   * replica is asked, and begins with `reset` when what was missed cannot be told any more (a day, or 500 events):
   * then read anew what is shown. It ends when the credential does, within about a second; a user has ten at a
   * replica at most (429001).
   */
  @Get()
  @Access({ scope: null, narrowed: true })
  @ApiHeader({ name: 'last-event-id', required: false, description: 'the `id` of the last event that was seen' })
  @ApiExtraModels(...EVENT_CLASSES)
  @ApiOkResponse({
    description: 'frames of `id`, `event` and `data`; the schema is that of `data`',
    content: {
      'text/event-stream': {
        schema: {
          oneOf: STREAM_EVENTS.map((title, i) => ({
            title,
            allOf: [{ $ref: getSchemaPath(EVENT_CLASSES[i] as (typeof EVENT_CLASSES)[number]) }],
          })),
        },
      },
    },
  })
  open(
    @Headers('last-event-id') last: string | undefined,
    @Req() request: ZoneRequest,
    @Res() response: Response,
  ): void {
    this.streams.open(request, response, last);
  }
}
