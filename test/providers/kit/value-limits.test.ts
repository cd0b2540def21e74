import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { following, withinDeadline } from '../../../src/providers/kit/http/deadline-context.js';
import { refuseRoot, refuseText, textStrings } from '../../../src/providers/kit/values/value-limits.js';
import { ProviderError } from '../../../src/providers/provider.js';

describe('texts that a vendor cannot hold', () => {
  const limits = { bytes: 4, never: [[/^$/, 'no text'] as const, [/"/, 'quotes'] as const] };
  const refused = (type: string, value: string) => () => refuseText({ type, value }, 'Vendor', limits);

  it('are refused with the reason, as not sent', () => {
    assert.throws(refused('TXT', 'abcde'), { kind: 'rejected', message: /Vendor .* more than 4 bytes/ });
    assert.throws(refused('TXT', 'éé1'), { message: /more than 4 bytes/ });
    assert.throws(refused('TXT', ''), { message: /no text/ });
    assert.throws(refused('TXT', 'a"'), { message: /quotes/, mayHaveApplied: false });
  });

  it('are those of TXT alone, within the limits', () => {
    refused('TXT', 'éé')();
    refused('CAA', '0 issue "ca.example.net"')();
    refuseText({ type: 'TXT', value: 'x'.repeat(5000) }, 'Vendor', {});
  });
});

describe('targets that a vendor cannot hold', () => {
  it('are the root of MX and SRV alone', () => {
    const refused = (type: string, value: string) => () => refuseRoot({ type, value }, 'Vendor');
    for (const [type, value] of [
      ['MX', '.'],
      ['SRV', '0 0 .'],
    ] as const) {
      const message = new RegExp(`Vendor takes no ${type} .*root`);
      assert.throws(refused(type, value), { kind: 'rejected', message, mayHaveApplied: false });
    }
    refused('MX', 'mail.example.net')();
    refused('SRV', '5 5060 sip.example.net')();
    refused('TXT', '.')();
    refused('HTTPS', '1 .')();
  });
});

describe('a further step after a write', () => {
  it('says that something was changed when it fails', async () => {
    const no = async () => {
      throw new ProviderError('rejected', 'no');
    };
    await assert.rejects(
      withinDeadline(undefined, () => following(no)),
      { kind: 'rejected', mayHaveApplied: true },
    );
    assert.equal(await following(async () => 1), 1);
  });
});

describe('the strings of a text for a vendor that takes them in a list', () => {
  it('have at most 255 octets each, and none cuts a character', () => {
    const long = 'a'.repeat(254);
    // a character spans two strings, so the text is split again
    assert.deepEqual(textStrings(`"${long}\\195" "\\169b"`), [long, 'éb']);
    assert.deepEqual(textStrings(`"${long}" "b"`), [long, 'b']);
  });
});
