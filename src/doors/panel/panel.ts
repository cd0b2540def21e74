import { type DoorDescription, TOKEN } from '../kit/door.js';

/** What both want to know: an address, behind which they put `/api` themselves, and the token. */
const entries = (url: string): string => `address: ${url}\ntoken:   ${TOKEN}`;

export const ddnsGo: DoorDescription = {
  key: 'ddns-go',
  path: '/doors/ddns-go',
  auth: 'a token of scope ddns as Bearer',
  tools: (url) => [{ name: 'ddns-go', snippet: `# provider: HiPM DNSMgr\n${entries(url)}` }],
};

export const certd: DoorDescription = {
  key: 'certd',
  path: '/doors/certd',
  auth: 'a token of scope acme as Bearer',
  tools: (url) => [{ name: 'certd', snippet: `# access: HiPM DNSMgr\n${entries(url)}` }],
};
