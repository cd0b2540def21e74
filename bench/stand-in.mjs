// A DNS provider without latency, in its own process: the part of the PowerDNS API that the service uses, in memory.
// Its first message is its port.
import { createServer } from 'node:http';

/** Record sets by name and type, by zone id. */
const zones = new Map();
const ROOT = '/api/v1/servers/localhost';
const keyOf = ({ name, type }) => `${name} ${type}`;
const zoneOf = (id, sets = []) => ({ id, name: id, kind: 'Native', rrsets: [...sets] });

function make({ name, rrsets = [] }) {
  const soa = { content: `ns1.example.net. hostmaster.${name} 1 10800 3600 604800 3600`, disabled: false };
  const set = { name, type: 'SOA', ttl: 3600, records: [soa] };
  zones.set(name, new Map([set, ...rrsets].map((one) => [keyOf(one), one])));
  return zoneOf(name, [set]);
}

function answer(method, { pathname, searchParams }, body) {
  if (pathname === ROOT) return [200, { id: 'localhost', version: '5.0.0' }];
  if (pathname === `${ROOT}/zones` && method === 'POST') return [201, make(body)];
  if (pathname === `${ROOT}/zones`) {
    const only = searchParams.get('zone');
    return [200, [...zones.keys()].filter((id) => !only || id === only).map((id) => zoneOf(id))];
  }
  const id = decodeURIComponent(pathname.slice(`${ROOT}/zones/`.length));
  const sets = zones.get(id);
  if (!sets) return [404, { error: 'Not Found' }];
  if (method === 'GET') {
    const [name, type] = ['rrset_name', 'rrset_type'].map((key) => searchParams.get(key));
    return [200, zoneOf(id, name && type ? [sets.get(keyOf({ name, type }))].filter(Boolean) : sets.values())];
  }
  for (const { changetype, ...set } of body.rrsets) {
    if (changetype === 'DELETE') sets.delete(keyOf(set));
    else sets.set(keyOf(set), set);
  }
  return [204];
}

const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const [status, data] = answer(request.method, new URL(request.url, 'http://localhost'), text && JSON.parse(text));
  const json = data === undefined ? '' : JSON.stringify(data);
  const length = data === undefined ? {} : { 'content-length': Buffer.byteLength(json) };
  response.writeHead(status, { 'content-type': 'application/json', ...length }).end(json);
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
