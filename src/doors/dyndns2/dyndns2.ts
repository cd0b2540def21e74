import { type DoorDescription, TOKEN } from '../kit/door.js';

/** The host of a URL, and what stands behind it. */
const hostOf = (url: string): string => new URL(url).host;

export const dyndns2: DoorDescription = {
  key: 'dyndns2',
  path: '/nic/update',
  auth: 'HTTP Basic with any user, or the host, and a token of scope ddns as the password',
  tools: (url) => [
    {
      name: 'ddclient',
      snippet: `protocol=dyndns2
use=web, web=https://checkip.example.net
server=${hostOf(url)}
script=${new URL(url).pathname}
ssl=${url.startsWith('https:') ? 'yes' : 'no'}
login=zoneward
password='${TOKEN}'
home.example.com`,
    },
    {
      name: 'inadyn',
      snippet: `# run it with --continue-on-error: without, it ends at the first failure
custom zoneward {
    ssl            = ${url.startsWith('https:')}
    username       = zoneward
    password       = "${TOKEN}"
    ddns-server    = "${hostOf(url)}"
    ddns-path      = "${new URL(url).pathname}?hostname=%h&myip=%i"
    hostname       = "home.example.com"
}`,
    },
    {
      name: 'UniFi',
      snippet: `Service:  custom
Hostname: home.example.com
Username: zoneward
Password: ${TOKEN}
Server:   ${hostOf(url)}${new URL(url).pathname}?hostname=%h&myip=%i`,
    },
    {
      name: 'OPNsense, pfSense',
      snippet: `Service:  Custom
Username: zoneward
Password: ${TOKEN}
URL:      ${url}?hostname=home.example.com&myip=__MYIP__   (pfSense: myip=%IP%, result match: good %IP%|nochg %IP%)`,
    },
    {
      name: 'curl',
      snippet: `curl -fsS -u "zoneward:${TOKEN}" '${url}?hostname=home.example.com&myip=192.0.2.7'`,
    },
  ],
};
