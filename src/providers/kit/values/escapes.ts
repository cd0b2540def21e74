/**
 * Rdata with its escapes of three digits in another base: decimal in zone files, octal at some vendors. To base 0 they
 * become the characters themselves. Other escapes (`\"`, `\\`) stay.
 */
export const recoded = (rdata: string, from: number, to: number): string =>
  rdata.replace(/\\(\d{3}|[\s\S])/g, (all, code: string) => {
    if (code.length < 3) return all;
    const byte = Number.parseInt(code, from);
    return to ? `\\${byte.toString(to).padStart(3, '0')}` : String.fromCharCode(byte);
  });
