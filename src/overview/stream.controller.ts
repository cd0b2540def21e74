import { Controller, Get, Headers, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiHeader, ApiOkResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, signedIn, type ZoneRequest } from '../access/access.js';
import { proofOf, Tickets } from '../auth/guard/tickets.service.js';
import { EVENT_CLASSES, STREAM_EVENTS, StreamQuery, StreamTicket } from './stream.dto.js';
import { Streams } from './streams.service.js';

@ApiTags('Site')
@Controller('events')
export class StreamController {
  constructor(
    private readonly streams: Streams,
    private readonly tickets: Tickets,
  ) {}

  /**
   * A ticket for the stream: `GET /api/events?ticket=…` opens it once, within 30 seconds, without `Authorization`,
   * which the `EventSource` of a browser cannot send. The stream has the rights of the credential that asks for the
   * ticket, and ends with it.
   */
  @Post('ticket')
  @HttpCode(200)
  @Access({ scope: null, narrowed: true })
  ticket(@Req() request: ZoneRequest): Promise<StreamTicket> {
    return this.tickets.issue(signedIn(request.caller).userId, proofOf(request));
  }

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
   * replica at most (429001). A `ticket` in the query takes the place of `Authorization`.
   */
  @Get()
  @Access({ scope: null, narrowed: true, tickets: true })
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
    @Query() { last_event_id }: StreamQuery,
    @Req() request: ZoneRequest,
    @Res() response: Response,
  ): void {
    this.streams.open(request, response, last ?? last_event_id);
  }
}
