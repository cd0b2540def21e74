import { dnspod } from '../../../src/providers/dnspod/declaration.js';
import { type Asked, type Course, isWished, type ReplaySetup, targetOf } from '../../support/recordings.js';
import type { Answer, Interaction } from '../../support/vendor.js';

type Form = Record<string, string>;
interface Recorded {
  status: { code: string };
  domain?: { id: string; name: string };
  record?: { id: string | number };
  records?: Form[];
}

const bodyOf = ({ response }: Interaction): Recorded => response.body as Recorded;
/** Codes by which the account itself is refused: 10002 was recorded 2018, the others are documented. */
const REFUSED = ['-1', '83', '85', '10001', '10002', '10003', '10004'];

/** Recorded 2016; what was to be recorded 2018 was refused. */
export const setup: ReplaySetup = {
  definition: dnspod,
  recording: 'dnspod',
  base: '',
  finds: true,
  credentials: (endpoint) => ({ id: '1', token: 'a-token-for-the-tests', endpoint }),
  reads: ({ path }) => /\.(List|Info)$/.test(path),
  listed({ path }, body) {
    if (path !== '/Record.List') return null;
    return ((body as Recorded).records ?? []).map((r) => ({
      ...{ remoteId: `${r.id}`, type: `${r.type}`, host: `${r.name}`, ttl: Number(r.ttl) },
      ...{ line: r.line === '默认' ? 'default' : `${r.line}`, enabled: r.enabled === '1', readOnly: r.hold === 'hold' },
      value: r.type === 'TXT' ? `${r.value}` : `${r.value}`.replace(/\.$/, ''),
    }));
  },
  written: (_asked, body) => (body as Recorded).record?.id.toString(),
  refusal: ({ interactions }) =>
    interactions.some((one) => REFUSED.includes(bodyOf(one).status.code)) ? 'auth' : undefined,
};

/** Forms without what says who asks; the zone by its name, the line by its id, targets with their final dot. */
export function parameters(asked: Asked, whose: 'recorded' | 'own', course: Course): Asked {
  const { login_token: _1, format: _2, lang: _3, error_on_empty: _4, ...form } = asked.body as Form;
  const { domain_id, record_line, type: _5, offset: _6, length: _7, ...rest } = form;
  if (asked.path === '/Domain.List') return { ...asked, body: {} };
  const zone = course.scenario.interactions.map((one) => bodyOf(one).domain).find((one) => one && one.id === domain_id);
  const body: Form = { ...rest, ...(zone ? { domain: zone.name } : {}) };
  if (record_line)
    body[record_line === '默认' ? 'record_line_id' : 'record_line'] = record_line === '默认' ? '0' : record_line;
  if (whose === 'own') return { ...asked, body: withoutWished(body, course) };
  return {
    ...asked,
    body: 'value' in body ? { ...body, value: targetOf(body.record_type, `${body.value}`, course) } : body,
  };
}

/** The recorded client left out TTL and state: those that a step says, and no others, are taken out. */
function withoutWished(form: Form, course: Course): Form {
  const { ttl, status, ...rest } = form;
  const { sub_domain: host, record_type: type, value = '' } = form;
  const said = { type, host, value: type === 'TXT' ? value : value.replace(/\.$/, ''), ttl };
  return status === 'enable' && isWished(course, said) ? rest : form;
}

/** The list of zones, of the recorded answers for single zones. */
export function zones({ path }: Asked, { scenario }: Course): Answer | undefined {
  if (path !== '/Domain.List') return undefined;
  const infos = scenario.interactions.filter(({ request }) => request.url.endsWith('/Domain.Info')).map(bodyOf);
  const refused = infos.find(({ status }) => REFUSED.includes(status.code));
  if (refused) return { body: refused };
  const domains = infos.flatMap(({ domain }) => domain ?? []);
  return { body: { status: { code: '1' }, info: { domain_total: domains.length }, domains } };
}

/** A look for a text before it is made, of a zone that was not listed until then. */
export function look({ path }: Asked, { known }: Course): Answer | undefined {
  const isSeen = known.some(({ request }) => /Record\.(List|Create)$/.test(request.url));
  if (path !== '/Record.List' || isSeen) return undefined;
  return { body: { status: { code: '1' }, info: { record_total: '0' }, records: [] } };
}
