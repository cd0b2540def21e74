import { type DoorDescription, TOKEN } from '../kit/door.js';

/** What the address of a listener of the door begins with, for clients that keep no path. */
const rootOf = (url: string): string => `${new URL(url).protocol}//${new URL(url).hostname}:8081`;

export const powerdns: DoorDescription = {
  key: 'powerdns',
  path: '/doors/powerdns',
  auth: 'the header X-API-Key with a token of scope powerdns; clients that keep no path need POWERDNS_PORT, 8081 here',
  tools: (url) => [
    {
      name: 'octoDNS',
      snippet: `providers:
  zoneward:
    class: octodns_powerdns.PowerDnsProvider
    scheme: ${new URL(url).protocol.slice(0, -1)}
    host: ${new URL(url).hostname}
    port: 8081
    api_key: env/ZONEWARD_TOKEN
    timeout: 60
# environment: ZONEWARD_TOKEN=${TOKEN}`,
    },
    {
      name: 'DNSControl',
      snippet: `/* creds.json:
{"zoneward": {"TYPE": "POWERDNS", "apiUrl": "${url}", "apiKey": "${TOKEN}", "serverName": "localhost"}} */
var ZONEWARD = NewDnsProvider("zoneward", {default_ns: [], zone_kind: "Native"});
D("example.com", NewRegistrar("none"), DnsProvider(ZONEWARD),
  IGNORE("@", "SOA"),
  A("www", "192.0.2.7"));`,
    },
    {
      name: 'Terraform',
      snippet: `# source: pan-net/powerdns or mmianl/powerdns; environment: PDNS_API_KEY=${TOKEN}
provider "powerdns" {
  server_url = "${rootOf(url)}"
}
resource "powerdns_record" "www" {
  zone    = "example.com."
  name    = "www.example.com."
  type    = "A"
  ttl     = 300
  records = ["192.0.2.7"]
}`,
    },
    {
      name: 'lego',
      snippet: `PDNS_API_URL=${url} PDNS_API_KEY=${TOKEN} \\
  lego --email you@example.com --dns pdns --domains example.com --domains '*.example.com' run`,
    },
    {
      name: 'acme.sh',
      snippet: `PDNS_Url=${url} PDNS_ServerId=localhost PDNS_Token=${TOKEN} PDNS_Ttl=60 \\
  acme.sh --issue --dns dns_pdns -d example.com -d '*.example.com'`,
    },
    {
      name: 'ExternalDNS',
      snippet: `external-dns --source=ingress --policy=sync --registry=txt --txt-owner-id=my-cluster \\
  --provider=pdns --pdns-server=${rootOf(url)} --pdns-api-key=${TOKEN}`,
    },
    {
      name: 'Proxmox SDN',
      snippet: `pvesh create /cluster/sdn/dns --dns zoneward --type powerdns --key ${TOKEN} \\
  --url ${url}/api/v1/servers/localhost`,
    },
    {
      name: 'OPNsense',
      snippet: `Service:  PowerDNS
Server:   ${url}/api/v1/servers/localhost
Password: ${TOKEN}`,
    },
    {
      name: 'lexicon',
      snippet: `lexicon powerdns --pdns-server ${url} --auth-token ${TOKEN} list example.com A`,
    },
    {
      name: 'Caddy',
      snippet: `# with the module github.com/caddy-dns/powerdns
tls {
  dns powerdns {
    server_url ${url}
    api_token {env.ZONEWARD_TOKEN}
  }
}`,
    },
    {
      name: 'curl',
      snippet: `curl -fsS -H "X-API-Key: ${TOKEN}" ${url}/api/v1/servers/localhost/zones`,
    },
  ],
};
