/** Hexadecimal notation of an IPv6 address (RFC 5952), also of one with a dotted end. */
export const hexadecimal = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);
