import { IsIn, IsOptional, Matches } from 'class-validator';
import { PageQuery } from '../platform/common/paging.dto.js';
import { ruleText } from '../platform/common/words/field-text.js';
import { NOTICE_EVENTS, type NoticeEvent } from '../platform/events/events.js';
import { CHANNEL_ID } from '../settings/channels.dto.js';

const DELIVERY_STATES = ['waiting', 'sent', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export class DeliveryQuery extends PageQuery {
  /** dead: nobody tries it any more */
  @IsOptional()
  @IsIn(DELIVERY_STATES)
  state?: DeliveryState;

  /** id of the channel */
  @IsOptional()
  @Matches(CHANNEL_ID, { message: ruleText('must be the id of a channel') })
  channel?: string;

  /** what was told of */
  @IsOptional()
  @IsIn(NOTICE_EVENTS)
  event?: NoticeEvent;
}

export class DeliveryView {
  id!: number;
  /** the same for all channels that were told of it */
  notice!: string;
  /** id of the channel */
  channel!: string;
  event!: NoticeEvent;
  domain!: string | null;
  text!: string;
  /** waiting; sent (of mail: handed to the outbox of mails); dead: nobody tries it any more */
  state!: DeliveryState;
  /** how often it was tried */
  tries!: number;
  /** why the last try failed */
  error!: string | null;
  created_at!: string;
  /** of what waits: the next try */
  next_at!: string | null;
  sent_at!: string | null;
  /** when it was sent or given up; null: it waits, or was given up by a version that did not note it */
  ended_at!: string | null;
}

export class DeliveryList {
  total!: number;
  list!: DeliveryView[];
}

export class ChannelTestResult {
  /** whether the channel took the message */
  success!: boolean;
  /** what happened, for people */
  message!: string;
}
