import type { CapabilitiesView } from './provider.dto.js';
import type { Capabilities } from './provider.js';

/** What a provider can do, as the API shows it. */
export function capabilitiesView(capabilities: Capabilities): CapabilitiesView {
  const { minTtl, maxTtl, automaticTtl, createZone, types, lines, ttlOf, toggle, apexCname, proxy, weight, remark } =
    capabilities;
  const { atomic, chunk, tunnels } = capabilities;
  return {
    types: [...types],
    granularity: ttlOf === 'set' ? 'rrset' : 'record',
    toggle: toggle === 'record',
    proxy,
    lines: [...lines],
    weight,
    remark,
    apex_cname: apexCname,
    min_ttl: minTtl,
    max_ttl: maxTtl,
    automatic_ttl: automaticTtl,
    create_zone: createZone,
    atomic,
    chunk,
    tunnels,
  };
}
