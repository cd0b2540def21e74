import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';
import { Check, IsOmittable, Nested, NestedList } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';
import { NOTICE_EVENTS, type NoticeEvent } from '../platform/events/events.js';
import { isEmail, isHookUrl, ONE_LINE } from './checks.js';

const CHANNEL_TYPES = ['email', 'webhook', 'telegram', 'slack', 'discord', 'dingtalk', 'feishu', 'wecom'] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

/** of channels, also in addresses */
export const CHANNEL_ID = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Fields that are shown. Which belong to which type says the body of the request. */
class ChannelConfig {
  /** email (required): who gets the mails */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(20)
  @ArrayUnique()
  @Check((value) => Array.isArray(value) && value.every(isEmail), 'must be mail addresses such as me@example.com')
  to?: string[];

  /** telegram (required): id of the chat, such as `-1001234567890`, or `@name` of a public channel */
  @IsOptional()
  @Matches(/^(-?\d{1,20}|@\w{1,64})$/, { message: ruleText('must be a number or @name') })
  chat_id?: string;

  /** telegram: where its API is; left out: https://api.telegram.org */
  @IsOptional()
  @Check(isHookUrl, 'must be an http or https URL')
  api_url?: string;
}

export class ChannelConfigInput extends ChannelConfig {
  /**
   * webhook, slack, discord, dingtalk, feishu, wecom (required): where notices are posted. That of a webhook is shown
   * and has no query; those of the chats are secrets: left out, the stored one stays
   */
  @IsOptional()
  @Check(isHookUrl, 'must be an http or https URL without user name')
  url?: string | null;

  /**
   * webhook, dingtalk, feishu: what notices are signed with. Left out: the stored one stays, as long as `url` does;
   * null: none
   */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1024)
  secret?: string | null;

  /** telegram (required): token of the bot. Left out: the stored one stays, as long as `api_url` does */
  @IsOptional()
  @Matches(/^[\w:-]{1,256}$/, { message: ruleText('must be the token of a bot') })
  token?: string | null;

  /** what a GET tells; must be that */
  @IsOptional()
  @IsBoolean()
  url_set?: boolean;

  /** what a GET tells; must be that */
  @IsOptional()
  @IsBoolean()
  secret_set?: boolean;

  /** what a GET tells; must be that */
  @IsOptional()
  @IsBoolean()
  token_set?: boolean;
}

class ChannelConfigView extends ChannelConfig {
  /** webhook */
  url?: string;
  /** slack, discord, dingtalk, feishu, wecom: whether an address is stored; it is never shown */
  url_set?: boolean;
  /** webhook, dingtalk, feishu: whether a signing secret is stored; it is never shown */
  secret_set?: boolean;
  /** telegram: whether a token is stored; it is never shown */
  token_set?: boolean;
}

class Channel {
  @IsIn(CHANNEL_TYPES)
  type!: ChannelType;

  /** for people */
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  name!: string;
}

export class ChannelInput extends Channel {
  /** short name that stays, used in addresses and by rules; left out: one is made */
  @IsOmittable()
  @Matches(CHANNEL_ID, { message: ruleText('must be 1 to 32 of a-z, 0-9 and -') })
  id?: string;

  /** left out: true */
  @IsOmittable()
  @IsBoolean()
  enabled?: boolean;

  @Nested(() => ChannelConfigInput)
  config!: ChannelConfigInput;

  /** what it wants to be told of; left out: nothing but what names it, such as an audit rule */
  @IsOmittable()
  @IsArray()
  @ArrayUnique()
  @IsIn(NOTICE_EVENTS, { each: true })
  events?: NoticeEvent[];
}

export class ChannelView extends Channel {
  id!: string;
  enabled!: boolean;
  config!: ChannelConfigView;
  /** what it wants to be told of */
  events!: NoticeEvent[];
}

export class NotificationsInput {
  /** all of them: those that are left out are removed */
  @IsOmittable()
  @ArrayMaxSize(50)
  @NestedList(() => ChannelInput)
  channels?: ChannelInput[];
}

export class NotificationsView {
  channels!: ChannelView[];
}
