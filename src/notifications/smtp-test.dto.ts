import { Check } from '../platform/common/validation.js';
import { isEmail } from '../settings/checks.js';

export class SmtpTestInput {
  /** one address, such as me@example.com */
  @Check(isEmail, 'must be one mail address such as me@example.com')
  to!: string;
}

export class SmtpTestResult {
  /** whether the mail server took the mail */
  success!: boolean;
  /** what happened, for people */
  message!: string;
}
