/** Domains, users, teams and tokens; records and audit entries for each of them. */
interface Size {
  count: number;
  each: number;
}

interface HotRequest {
  method?: string;
  path: string;
  who?: 'user' | 'session' | 'nobody';
  body?: (n: number) => unknown;
}

export function statements(size: Size, password?: string): string[];
export function requests(size: Size, small: number): Record<string, HotRequest>;
