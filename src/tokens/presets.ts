import { SCOPE_TABLE } from '../access/scopes.js';
import { toAscii } from '../dns/names.js';
import { errors } from '../platform/common/errors.js';
import { isHostGlob } from '../platform/common/patterns.js';
import { ACTIONS, type TokenRule } from './rules/token-rules.js';
import type { PresetInput } from './token.dto.js';

/**
 * The rules of a scope at one host, with every action: tokens of other scopes get them, too, and some of their clients
 * replace whole record sets.
 */
const implied = (scope: 'acme' | 'ddns', host: string): TokenRule[] =>
  SCOPE_TABLE[scope].rules.map((rule) => ({ ...rule, hosts: [host], actions: [...ACTIONS] }));

/** The rules of a preset. @throws AppError 400001 naming `preset.host` */
export function presetRules({ name, host }: PresetInput): TokenRule[] {
  // null counts as left out
  const given = typeof host === 'string' ? toAscii(host) : undefined;
  if (given !== undefined && !isHostGlob(given)) throw errors.field('preset.host', 'must be a host such as www or @');
  switch (name) {
    case 'acme': {
      // RFC 8555, section 8.4: the challenge is a TXT record at _acme-challenge below the name; a certificate of
      // *.example.com asks there, too
      const base = (given ?? '@').replace(/^\*\./, '');
      const challenge = base === '@' || base === '*' ? '_acme-challenge' : `_acme-challenge.${base}`;
      return implied('acme', challenge);
    }
    case 'ddns':
      if (given === undefined) throw errors.field('preset.host', 'is needed: the host whose address changes');
      // one host, so a star is the wildcard record and no glob
      return implied('ddns', given.replace(/^\*/, '\\*'));
    case 'read-only': {
      const hosts = given === undefined ? {} : { hosts: [given] };
      return [{ effect: 'allow', ...hosts, actions: ['read'] }];
    }
  }
}
